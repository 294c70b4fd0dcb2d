import type { CommandCondition, HookConditions } from '../core/hook.ts'

/** How many alternatives of a condition are named. */
const MAX_NAMED = 3

/** The conditions of a hook in words: `deletes outside of the project`, `Bash: git push --force*`, `every call`. */
export function describeConditions({ matcher, match, if_expr }: Partial<HookConditions>): string {
  const { glob, names = [], fields, outcome, command } = match ?? {}
  const parts = [
    matcher ? toolText(matcher) : '',
    glob ? `tools named ${glob}` : '',
    names === null || names.length === 0 ? '' : namesText(names),
    command ? `runs ${shorten(asList(command).map(commandText))}` : '',
    fields ? fieldsText(fields) : '',
    outcome ? `outcome ${asList(outcome).join(' or ')}` : '',
    if_expr ? conditionText(if_expr) : '',
  ]
  return parts.filter((part) => part !== '').join(', and ') || 'everything'
}

function asList<T>(value: T | readonly T[]): readonly T[] {
  return Array.isArray(value) ? value : [value as T]
}

const MAX_CONDITION = 120

function conditionText(source: string): string {
  const line = `if ${source.trim().replace(/\s+/g, ' ')}`
  return line.length > MAX_CONDITION ? `${line.slice(0, MAX_CONDITION)}…` : line
}

/** The names that stand for an effect, in words. */
const effects: Readonly<Record<string, string>> = {
  Delete: 'deletes',
  Write: 'writes',
  Edit: 'writes',
  Read: 'reads',
  Network: 'contacts',
}

/** `Tool(pattern)`; undefined if it is a name or a regular expression. */
function readPattern(text: string) {
  const [, tool, inside] = /^([\w.*-]+)\((.*)\)$/s.exec(text) ?? []
  return tool === undefined || inside === undefined ? undefined : { tool, inside }
}

function toolText(matcher: string): string {
  const pattern = readPattern(matcher)
  if (pattern === undefined) return matcher
  const verb = effects[pattern.tool]
  return verb === undefined ? `${pattern.tool}: ${pattern.inside}` : `${verb} ${placesText([pattern.inside])}`
}

function namesText(names: readonly string[]): string {
  const wanted = names.filter((name) => !name.startsWith('!'))
  const excepted = names.flatMap((name) => (name.startsWith('!') ? (readPattern(name.slice(1)) ?? []) : []))
  const groups = Map.groupBy(wanted, (name) => {
    const tool = readPattern(name)?.tool ?? ''
    return effects[tool] ?? tool
  })
  const texts = [...groups].map(([group, members]) => {
    const insides = members.map((name) => readPattern(name)?.inside ?? name)
    if (group === '') return shorten(insides)
    if (!Object.values(effects).includes(group)) return `${group}: ${shorten(insides)}`
    const others = excepted.filter(({ tool }) => effects[tool] === group).map(({ inside }) => inside)
    return `${group} ${placesText(insides, others)}`
  })
  return texts.join(', or ')
}

/** Places of an effect. Everywhere but in the folder of the agent has words of its own. */
function placesText(wanted: readonly string[], excepted: readonly string[] = []): string {
  const isOutside = wanted.includes('/*') && excepted.includes('./*')
  const others = excepted.filter((place) => place !== '**' && (!isOutside || !/^\.(?:\/\*)?$/.test(place)))
  // `!Write(**)` leaves out what a pattern on the shell line only may mean.
  const byName = excepted.includes('**') ? ' by name' : ''
  const places = isOutside ? 'outside of the project' : shorten(wanted) + byName
  return others.length === 0 ? places : `${places} (except ${shorten(others)})`
}

function commandText(condition: CommandCondition): string {
  const {
    program,
    subcommand,
    flags = [],
    any_flags = [],
    without_flags = [],
    args = [],
    via = [],
  } = condition
  return [
    ...via,
    asList(program).slice(0, MAX_NAMED).join('|') + (asList(program).length > MAX_NAMED ? '|…' : ''),
    subcommand === undefined ? '' : asList(subcommand).join('|'),
    ...flags.map(flagText),
    any_flags.map(flagText).join('|'),
    ...args,
    without_flags.length === 0 ? '' : `without ${without_flags.map(flagText).join(' ')}`,
    condition.remote === undefined ? '' : condition.remote ? 'on another machine' : 'on this machine',
  ]
    .filter((part) => part !== '')
    .join(' ')
}

function flagText(flag: string): string {
  const bare = flag.replace(/^-{1,2}(?=.)/, '')
  return bare.length === 1 ? `-${bare}` : `--${bare}`
}

function fieldsText(fields: Readonly<Record<string, unknown>>): string {
  return Object.entries(fields)
    .map(([path, value]) => `${path} is ${String(value)}`)
    .join(' and ')
}

function shorten(texts: readonly string[]): string {
  const left = texts.length - MAX_NAMED
  return `${texts.slice(0, MAX_NAMED).join(', ')}${left > 0 ? ` and ${left} more` : ''}`
}
