import { HookError } from '../../engine/core/errors/error.ts'
import type { Placeholder } from '../placeholders.ts'

const variableOf: Readonly<Record<Placeholder, string>> = {
  $ARGUMENTS: 'HOOKHELM_ARGUMENTS',
  '{file}': 'HOOKHELM_FILE',
  '{tool_name}': 'HOOKHELM_TOOL_NAME',
  '{args}': 'HOOKHELM_ARGS',
  '{result}': 'HOOKHELM_RESULT',
}

type Quote = '' | "'" | '"'

/** The text before a word that another shell or interpreter will run as code. */
const readAsCode =
  /(?:^|[\s;|&(])(?:eval\b[^;|&]*|(?:\S*\/)?(?:(?:ba|da|z|k|a)?sh|python[\d.]*|node|perl|ruby|php)\b[^;|&]*\s-\w*[cer]\s+)$/

/**
 * A shell line in which variables replace the placeholders. The shell expands variables after it has parsed the line, so
 * a payload can never become shell code.
 */
export function shellLine(command: string, names: readonly Placeholder[]) {
  /** Environment variable → the placeholder whose value it holds. */
  const variables: Record<string, Placeholder> = {}
  // One entry per open parenthesis: `$(…)` has quotes of its own.
  const quotes: Quote[] = ['']
  let line = ''
  let word = 0
  for (let at = 0; at < command.length; ) {
    const quote = quotes.at(-1) ?? ''
    const name = names.find((candidate) => command.startsWith(candidate, at))
    if (name === undefined) {
      const piece = pieceAt(command, at, quote)
      updateQuotes(quotes, quote, piece)
      if (quote === '' && /\s/.test(piece)) word = at + 1
      line += piece
      at += piece.length
      continue
    }
    assertSafePosition(name, quote, command.slice(0, word))
    const variable = variableOf[name]
    variables[variable] = name
    // A wrong guess about the quotes could split the value into words but never run it.
    line += quote === '"' ? `\${${variable}}` : `"\${${variable}}"`
    at += name.length
  }
  return { line, variables }
}

/** The next character, an escaped pair, or `$(`. */
function pieceAt(command: string, at: number, quote: Quote): string {
  const two = command.slice(at, at + 2)
  const whole = quote !== "'" && (two[0] === '\\' || two === '$(')
  return whole ? two : two.slice(0, 1)
}

function updateQuotes(quotes: Quote[], quote: Quote, piece: string): void {
  if (piece === quote) quotes[quotes.length - 1] = ''
  else if (piece === '$(' || (piece === '(' && quote === '')) quotes.push('')
  else if (quote !== '') return
  else if (piece === ')' && quotes.length > 1) quotes.pop()
  else if (piece === "'" || piece === '"') quotes[quotes.length - 1] = piece
}

function assertSafePosition(name: Placeholder, quote: Quote, before: string): void {
  const at = 'config.command'
  if (quote === "'") {
    const hint = `Write ${name} outside of the quotes; it is passed as one word.`
    throw new HookError(
      'config.field',
      `${at}: ${name} is inside single quotes, where the shell does not expand it`,
      { at, hint },
    )
  }
  if (readAsCode.test(before)) {
    const hint = 'Read the event from stdin instead.'
    throw new HookError('config.field', `${at}: ${name} would be run as code by a second shell`, { at, hint })
  }
}
