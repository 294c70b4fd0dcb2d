import { HookError } from '../../core/error.ts'
import { compileGlob } from '../glob.ts'
import type { MatchInput, MatchPart } from '../matcher.ts'
import { compileRegex } from '../name-regex.ts'
import { simpleCommands } from './simple-commands.ts'
import { type ToolArgument, toolArguments } from './tool-argument.ts'

type Fits = (input: MatchInput) => boolean
interface ToolPattern {
  readonly tool: string
  readonly inside: string
}

/** `Tool(pattern)` in a `matcher`; undefined when the text is an ordinary regular expression. */
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
    // `Bash(git .*)` as a regular expression never fires on Bash; a gate must not fall silent over a typing habit.
    return { kind: 'matcher', source, byName: (name) => name === tool || regex.test(name) }
  }
  return {
    kind: 'matcher',
    source,
    byName: (name) => name === tool,
    when: compileToolPattern(inside, 'matcher'),
  }
}

export function readToolPattern(text: string): ToolPattern | undefined {
  const open = text.indexOf('(')
  if (open < 1 || !text.endsWith(')')) return undefined
  const tool = text.slice(0, open)
  return /^[A-Za-z_][\w-]*$/.test(tool) ? { tool, inside: text.slice(open + 1, -1) } : undefined
}

/** No tool is called `mcp__`, so behind a trailing underscore stands a group. */
function isRegexShaped(tool: string, inside: string): boolean {
  return inside === '' || tool.endsWith('_') || /[|\\[]|\.[*+]|\(\?/.test(`(${inside}`)
}

export function compileToolPattern(inside: string, at: string): Fits {
  if (inside.startsWith('domain:')) {
    const onHost = compileHost(inside.slice('domain:'.length), at)
    return (input) => toolArguments(input).some(({ texts }) => texts.some((text) => onHost(hostOf(text))))
  }
  const onText = compileText(inside, at)
  return (input) => toolArguments(input).some((argument) => fitsArgument(argument, onText))
}

function fitsArgument({ texts, shell }: ToolArgument, onText: (text: string) => boolean): boolean {
  return texts.some((text) => onText(text) || (shell && simpleCommands(text, onText)))
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

/** As a browser reads it, so neither user info nor case nor a closing dot hides a host. */
function hostOf(text: string): string | undefined {
  const url = URL.parse(text.includes('://') ? text : `https://${text}`)
  return url?.hostname.replace(/\.$/, '')
}
