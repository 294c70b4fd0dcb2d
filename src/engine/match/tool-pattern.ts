import { HookError } from '../core/error.ts'
import { compileGlob } from './glob.ts'
import { assertTexts, type MatchInput, type MatchPart } from './match-part.ts'
import { compileRegex } from './regex.ts'
import { hasCommand } from './shell-commands.ts'
import { type ToolArgument, toolArguments } from './tool-arguments.ts'

interface ToolPattern {
  readonly tool: string
  readonly inside: string
}

/** `matcher` as a `Tool(pattern)`; undefined if the text is a regular expression. */
export function toolPatternPart(source: string): MatchPart | undefined {
  const pattern = readToolPattern(source)
  if (!pattern) return undefined
  const { tool, inside } = pattern
  if (inside.includes('|') && !/^[\w|.*+?-]+$/.test(inside))
    throw new HookError(
      'match.ambiguous',
      `matcher ${source} could be a regular expression or a Tool(pattern)`,
      {
        at: `matcher:${source.indexOf('|')}`,
      },
    )
  if (isRegexShaped(tool, inside)) {
    const regex = compileRegex(source, 'matcher')
    // Read as a regular expression only, `Bash(git .*)` would never match Bash, and a gate would silently not apply.
    return { kind: 'matcher', source, byName: (name) => name === tool || regex.test(name) }
  }
  return {
    kind: 'matcher',
    source,
    byName: (name) => name === tool,
    when: compileToolPattern(inside, 'matcher'),
  }
}

/**
 * `match.names`: exact names, or a `Tool(pattern)` if the entry has a parenthesis. One of them must match; an empty list
 * matches every name.
 */
export function namesPart(names: readonly string[]): MatchPart | undefined {
  assertTexts(names, 'match.names')
  if (names.length === 0) return undefined
  const exact = new Set(names.filter((name) => !name.includes('(')))
  const patterns = names.flatMap((name, index) => (name.includes('(') ? [toolPatternAt(name, index)] : []))
  const source = names.join(', ')
  if (patterns.length === 0) return { kind: 'names', source, byName: (name) => exact.has(name) }
  return {
    kind: 'names',
    source,
    byName: (name) => exact.has(name) || patterns.some(({ tool }) => tool === name),
    when: (input) =>
      exact.has(input.name) || patterns.some(({ tool, fits }) => tool === input.name && fits(input)),
  }
}

function toolPatternAt(text: string, index: number) {
  const at = `match.names.${index}`
  const pattern = readToolPattern(text)
  if (pattern) return { tool: pattern.tool, fits: compileToolPattern(pattern.inside, at) }
  throw new HookError('match.syntax', `${at} is neither a name nor a Tool(pattern)`, {
    at,
    hint: 'Write it as Bash(git push*); regular expressions belong in `matcher`.',
  })
}

/** Splits `Tool(inside)`; undefined if the text has another form. */
export function readToolPattern(text: string): ToolPattern | undefined {
  const open = text.indexOf('(')
  if (open < 1 || !text.endsWith(')')) return undefined
  const tool = text.slice(0, open)
  return /^[A-Za-z_][\w-]*$/.test(tool) ? { tool, inside: text.slice(open + 1, -1) } : undefined
}

/** No tool name ends with `_`, so `mcp__(…)` is a regular expression with a group. */
function isRegexShaped(tool: string, inside: string): boolean {
  return inside === '' || tool.endsWith('_') || /[|\\[]|\.[*+]|\(\?/.test(`(${inside}`)
}

function compileToolPattern(inside: string, at: string): (input: MatchInput) => boolean {
  if (inside.startsWith('domain:')) {
    const onHost = compileHost(inside.slice('domain:'.length), at)
    return (input) => toolArguments(input).some(({ texts }) => texts.some((text) => onHost(hostOf(text))))
  }
  const onText = compileText(inside, at)
  return (input) => toolArguments(input).some((argument) => fitsArgument(argument, onText))
}

function fitsArgument({ texts, shell }: ToolArgument, onText: (text: string) => boolean): boolean {
  return texts.some((text) => onText(text) || (shell && hasCommand(text, onText)))
}

function compileText(inside: string, at: string): (text: string) => boolean {
  const glob = (pattern: string) => compileGlob(pattern, { at, classes: false })
  if (inside.endsWith(':*')) {
    const prefix = inside.slice(0, -2)
    const alone = glob(prefix)
    const followed = glob(`${prefix} *`)
    return (text) => alone(text) || followed(text)
  }
  const whole = glob(inside)
  if (!inside.startsWith('./')) return whole
  const bare = glob(inside.slice(2))
  return (text) => whole(text) || bare(text)
}

function compileHost(written: string, at: string): (host: string | undefined) => boolean {
  const domain = hostOf(written) ?? written.toLowerCase()
  const exact = compileGlob(domain, { at, classes: false })
  const below = compileGlob(`*.${domain}`, { at, classes: false })
  return (host) => host !== undefined && (exact(host) || below(host))
}

/** Parses the host as a browser does, so that user info, case or a final dot cannot hide it. */
function hostOf(text: string): string | undefined {
  const url = URL.parse(text.includes('://') ? text : `https://${text}`)
  return url?.hostname.replace(/\.$/, '')
}
