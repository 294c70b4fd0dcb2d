import { HookError } from '../core/errors/error.ts'
import type { OpaqueMark } from '../core/shell-effects.ts'
import { definedFields } from '../core/values/defined-fields.ts'
import { lazyModule } from '../core/values/lazy-module.ts'
import type { CallEffects } from './effects/call-effects.ts'
import {
  type CommandPattern,
  compileCommandPattern,
  describeCommand,
  hiddenCommands,
} from './effects/command-pattern.ts'
import { isEffectName } from './effects/effect-names.ts'
import type { Exceptions } from './effects/except-effects.ts'
import { compileHost, hostOf } from './effects/host-pattern.ts'
import { compileGlob } from './glob.ts'
import { assertTexts, type EffectCondition, type MatchInput, type MatchPart } from './match-part.ts'
import { compileRegex } from './regex.ts'
import { toolArguments } from './tool-arguments.ts'

interface ToolPattern {
  readonly tool: string
  readonly inside: string
}

/** `matcher` as a `Tool(pattern)`; undefined if the text is a regular expression. */
export function toolPatternPart(source: string): MatchPart | undefined {
  const pattern = readToolPattern(source)
  if (!pattern) return undefined
  const { tool, inside } = pattern
  if (inside.includes('|') && !/^[\w|.*+?-]+$/.test(inside)) {
    const message = `matcher ${source} could be a regular expression or a Tool(pattern)`
    throw new HookError('match.ambiguous', message, { at: `matcher:${source.indexOf('|')}` })
  }
  if (isRegexShaped(tool, inside)) {
    const regex = compileRegex(source, 'matcher')
    // Read as a regular expression only, `Bash(git .*)` would never match Bash, and a gate would silently not apply.
    return { kind: 'matcher', source, byName: (name) => name === tool || regex.test(name) }
  }
  const { byName, when, effects } = compileToolPattern(pattern, 'matcher')
  return {
    kind: 'matcher',
    source,
    ...definedFields({ byName, when, effects }),
  }
}

/**
 * `match.names`: exact names, or a `Tool(pattern)` if the entry has a parenthesis. One of them must match; an empty list
 * matches every name. `!Read(pattern)` excepts files, hosts and commands from the effects of the other entries.
 */
export function namesPart(names: readonly string[]): MatchPart | undefined {
  assertTexts(names, 'match.names')
  if (names.length === 0) return undefined
  const exact = new Set(names.filter((name) => !name.includes('(')))
  const except = names.some(isException) ? exceptEffects().compileExceptions(names) : undefined
  const patterns = names.flatMap((name, index) =>
    name.includes('(') && !isException(name)
      ? [compileToolPattern(toolPatternAt(name, index), `match.names.${index}`, except)]
      : [],
  )
  const source = names.join(', ')
  if (patterns.length === 0) return { kind: 'names', source, byName: (name) => exact.has(name) }
  const isForAnyTool = patterns.some(({ byName }) => byName === undefined)
  const byName = (name: string) =>
    exact.has(name) || patterns.some((pattern) => pattern.byName?.(name) === true)
  const applying = (name: string) => patterns.filter((pattern) => pattern.byName?.(name) ?? true)
  return {
    kind: 'names',
    source,
    ...(isForAnyTool ? {} : { byName }),
    effects: {
      find(input, effects) {
        if (exact.has(input.name)) return ''
        for (const { when, effects: condition } of applying(input.name)) {
          if (when?.(input)) return ''
          const found = condition?.find(input, effects)
          if (found !== undefined) return found
        }
        return undefined
      },
      hidden: (input, effects) =>
        applying(input.name).flatMap(({ effects: condition }) => condition?.hidden(input, effects) ?? []),
    },
  }
}

/** Whether an entry of `match.names` is an exception: `!Read(*.example)`. */
export function isException(name: string): boolean {
  return /^!.*\(/.test(name)
}

const effectPattern = lazyModule<typeof import('./effects/effect-pattern.ts')>(
  import.meta.url,
  './effects/effect-pattern',
)
const exceptEffects = lazyModule<typeof import('./effects/except-effects.ts')>(
  import.meta.url,
  './effects/except-effects',
)

/** Reads the `Tool(pattern)` of an entry of `match.names`. */
export function toolPatternAt(text: string, index: number): ToolPattern {
  const at = `match.names.${index}`
  const pattern = readToolPattern(text)
  if (pattern) return pattern
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

type CompiledToolPattern = Pick<MatchPart, 'byName' | 'when' | 'effects'>

function compileToolPattern(
  { tool, inside }: ToolPattern,
  at: string,
  except?: Exceptions,
): CompiledToolPattern {
  const byName = (name: string) => name === tool
  if (inside.startsWith('domain:')) {
    const onHost = compileHost(inside.slice('domain:'.length), at)
    return {
      byName,
      when: (input) => toolArguments(input).some(({ texts }) => texts.some((text) => onHost(hostOf(text)))),
    }
  }
  const onText = compileText(inside, at)
  if (!isEffectName(tool)) return { byName, effects: argumentCondition(inside, onText) }
  const byEffect = effectPattern().compileEffectPattern(tool, inside, at)
  return {
    effects: {
      // A call of the tool itself fits by its arguments too: `Write(*)` means every call of it.
      find: (input, effects) =>
        except
          ? byEffect.find(input, except(inside, input, effects))
          : (byEffect.find(input, effects) ??
            (input.name === tool ? findArgument(input, onText) : undefined)),
      hidden: byEffect.hidden,
    },
  }
}

function findArgument(input: MatchInput, onText: (text: string) => boolean): string | undefined {
  return toolArguments(input).some(({ texts }) => texts.some(onText)) ? '' : undefined
}

/** The condition of a `Tool(pattern)`: an argument fits as a whole, or a command of a shell line does. */
function argumentCondition(inside: string, onText: (text: string) => boolean): EffectCondition {
  const pattern = compileCommandPattern(inside, onText)
  // Only such a pattern is about the whole line; any other is about one command of it.
  const isAboutLine = /^\*+$|[|;&<>`\n]|\$\(|^[^*?]*$/.test(inside)
  return {
    find(input, effects) {
      for (const { texts, lines } of toolArguments(input)) {
        if ((lines.length === 0 || isAboutLine) && texts.some(onText)) return ''
        const found = findCommand(lines, pattern, effects)
        if (found !== undefined) return found
      }
      return undefined
    },
    hidden: (input, effects) => [
      ...toolArguments(input).flatMap(({ lines }) => hiddenIn(lines, pattern, effects)),
      ...effects.shell().opaque.filter(({ reason }) => reason === 'other-shell'),
    ],
  }
}

function findCommand(
  lines: readonly string[],
  pattern: CommandPattern,
  effects: CallEffects,
): string | undefined {
  for (const line of lines) {
    const found = effects.ofLine(line).commands.find((command) => pattern.fits(command, effects))
    if (found !== undefined) return describeCommand(found)
  }
  return undefined
}

function hiddenIn(
  lines: readonly string[],
  pattern: CommandPattern,
  effects: CallEffects,
): readonly OpaqueMark[] {
  return lines.flatMap((line) =>
    hiddenCommands(effects.ofLine(line), (command) => pattern.mayFit(command, effects)),
  )
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
