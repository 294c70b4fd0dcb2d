// Not a shell parser, and not meant as one: it errs towards finding a command where there is none.

const separators = /[;&|\n`(){}]|\$\(/
const assignment = /^[A-Za-z_]\w*\+?=/
const redirection = /^\d*[<>]/
const keywords = new Set(['!', 'if', 'then', 'elif', 'else', 'while', 'until', 'do'])
// These run what follows them, behind options of their own that we do not know.
const wrappers = new Set(
  `sudo doas env command builtin exec eval time nohup nice ionice setsid stdbuf timeout watch xargs
   sh bash zsh dash ksh`.split(/\s+/),
)
const MAX_WRAPPED_WORDS = 24

/** Is there a simple command inside this shell text for which `test` holds? */
export function simpleCommands(text: string, test: (command: string) => boolean): boolean {
  const joined = text.replaceAll('\\\n', ' ')
  const unquoted = joined.replace(/['"\\]/g, '')
  return anySegment(joined, test) || (unquoted !== joined && anySegment(unquoted, test))
}

function anySegment(text: string, test: (command: string) => boolean): boolean {
  return text.split(separators).some((segment) => segment !== '' && fits(segment, test))
}

function fits(segment: string, test: (command: string) => boolean): boolean {
  const words = segment.split(/\s+/).filter((word) => word !== '')
  let start = 0
  while (isLeading(words[start])) start++
  if (start === words.length) return false
  if (fitsFrom(words, start, test)) return true
  // `A="x y" git push` leaves half a value behind, so what follows an assignment is searched like a wrapper's words.
  if (start === 0 && !wrappers.has(baseName(words[start]))) return false
  const end = Math.min(words.length, start + MAX_WRAPPED_WORDS)
  for (let next = start + 1; next < end; next++) if (fitsFrom(words, next, test)) return true
  return false
}

function fitsFrom(words: readonly string[], start: number, test: (command: string) => boolean): boolean {
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
