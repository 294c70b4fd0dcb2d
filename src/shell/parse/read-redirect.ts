import { type Cursor, failSyntax, skipBlanks } from './cursor.ts'
import { readQuotedText, readWord } from './read-word.ts'
import type { Redirect, Word } from './shell-syntax.ts'

const redirectStart = /(\d+|\{[A-Za-z_]\w*\})?(&>>|&>|<<<|<<-|<<|<>|<&|>>|>&|>\||>!|<|>)/y
// In zsh a blank may follow `{name}`.
const zshRedirectStart = /(\d+|\{[A-Za-z_]\w*\}[ \t]*)?(&>>|&>|<<<|<<-|<<|<>|<&|>>|>&|>\||>!|<|>)/y
// In POSIX sh `&>` is a `&` followed by a `>`, and there is no `<<<`.
const posixRedirectStart = /(\d+)?(<<-|<<|<>|<&|>>|>&|>\||<|>)/y

const starts = { bash: redirectStart, sh: posixRedirectStart, zsh: zshRedirectStart }

/** Reads one redirection; undefined if none starts here. */
export function readRedirect(cursor: Cursor): Redirect | undefined {
  const at = cursor.pos
  const start = starts[cursor.dialect]
  start.lastIndex = at
  const found = start.exec(cursor.text)
  if (!found) return undefined
  const [whole, descriptor, operator = ''] = found
  // `<(…)` and `>(…)` start a word.
  if (
    (operator === '<' || operator === '>') &&
    cursor.text[at + whole.length] === '(' &&
    cursor.dialect !== 'sh'
  )
    return undefined
  cursor.pos += whole.length
  skipBlanks(cursor)
  const target = readWord(cursor)
  if (!target) failSyntax(cursor, `a redirection ${operator} has no target`)
  const redirect: Redirect = { operator, target, at, ...(descriptor === undefined ? {} : { descriptor }) }
  if (operator === '<<' || operator === '<<-') cursor.pending.push(redirect)
  return redirect
}

/** Reads the bodies of the heredocs that the line above announced. Call it after a newline. */
export function readHeredocs(cursor: Cursor): void {
  const { pending } = cursor
  cursor.pending = []
  for (const redirect of pending) redirect.body = readBody(cursor, redirect)
}

function readBody(cursor: Cursor, { operator, target }: Redirect): Word {
  const isPlain = target.parts.every((part) => part.kind === 'text' && !part.quoted)
  const delimiter = target.parts.map((part) => (part.kind === 'text' ? part.text : part.source)).join('')
  const at = cursor.pos
  const lines: string[] = []
  while (cursor.pos < cursor.text.length) {
    const newline = cursor.text.indexOf('\n', cursor.pos)
    const end = newline === -1 ? cursor.text.length : newline
    const raw = cursor.text.slice(cursor.pos, end)
    cursor.pos = newline === -1 ? end : end + 1
    const line = operator === '<<-' ? raw.replace(/^\t+/, '') : raw
    if (line === delimiter) return bodyWord(cursor, lines, isPlain, at)
    // A heredoc in `$(…)` may end at the parenthesis; shells disagree, so this one is rejected.
    if (newline === -1 && line.startsWith(delimiter)) failSyntax(cursor, 'a heredoc is not closed')
    lines.push(line)
  }
  return bodyWord(cursor, lines, isPlain, at)
}

function bodyWord(cursor: Cursor, lines: readonly string[], isPlain: boolean, at: number): Word {
  const text = lines.map((line) => `${line}\n`).join('')
  if (!isPlain) return { parts: [{ kind: 'text', text, quoted: true }], at }
  return { ...readQuotedText({ ...cursor, text, pos: 0, pending: [] }), at }
}
