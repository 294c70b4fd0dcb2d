// This is not a shell parser. It prefers to find a command that is not there over missing one that is.

const separators = /[;&|\n`(){}]|\$\(/
const assignment = /^[A-Za-z_]\w*\+?=/
const redirection = /^\d*[<>]/
const keywords = new Set(['!', 'if', 'then', 'elif', 'else', 'while', 'until', 'do'])
// Programs that run the command after their own options, which this file does not know.
const wrappers = new Set(
  `sudo doas env command builtin exec eval time nohup nice ionice setsid stdbuf timeout watch xargs
   sh bash zsh dash ksh`.split(/\s+/),
)
const MAX_WRAPPED_WORDS = 24

/** Whether a simple command in this shell text passes the test. */
export function hasCommand(text: string, test: (command: string) => boolean): boolean {
  const joined = text.replaceAll('\\\n', ' ')
  const unquoted = joined.replace(/['"\\]/g, '')
  return anySegment(joined, test) || (unquoted !== joined && anySegment(unquoted, test))
}

function anySegment(text: string, test: (command: string) => boolean): boolean {
  return text.split(separators).some((segment) => segment !== '' && passes(segment, test))
}

function passes(segment: string, test: (command: string) => boolean): boolean {
  const words = segment.split(/\s+/).filter((word) => word !== '')
  let start = 0
  while (isLeading(words[start])) start++
  if (start === words.length) return false
  if (passesFrom(words, start, test)) return true
  // In `A="x y" git push` half of the value remains, so the words after an assignment are searched like a wrapper's.
  if (start === 0 && !wrappers.has(baseName(words[start]))) return false
  const end = Math.min(words.length, start + MAX_WRAPPED_WORDS)
  for (let next = start + 1; next < end; next++) if (passesFrom(words, next, test)) return true
  return false
}

function passesFrom(words: readonly string[], start: number, test: (command: string) => boolean): boolean {
  const command = words.slice(start).join(' ')
  if (test(command)) return true
  const name = baseName(words[start])
  return name !== words[start] && test([name, ...words.slice(start + 1)].join(' '))
}

function isLeading(word: string | undefined): boolean {
  return word !== undefined && (keywords.has(word) || assignment.test(word) || redirection.test(word))
}

function baseName(word: string | undefined): string {
  return word?.slice(word.lastIndexOf('/') + 1) ?? ''
}
