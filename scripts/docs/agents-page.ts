import { readFileSync } from 'node:fs'
import type { AgentAdapter, Effect, NativeEvent } from '../../src/agents/agent-adapter.ts'
import { defaultEvents } from '../../src/agents/capability-warnings.ts'
import { agentAdapters } from '../../src/agents/table.ts'
import { isGateEvent } from '../../src/connect/hook-command.ts'
import { catalogue } from '../../src/engine/events/catalogue.ts'
import { allCases } from '../../test/agents-real/all-cases.ts'
import { markdownTable, type Page, readIfThere } from '../page.ts'

const RESULTS = 'test/agents/results.json'

/** What the tables of the agentAdapters say, between words that are written by hand beside this file. */
export function agentsPage(): Page {
  const template = readFileSync(new URL('agents-page.md', import.meta.url), 'utf8')
  const parts: Readonly<Record<string, string>> = {
    overview: overview(),
    tools: tools(),
    unmapped: unmapped(),
    offline: offline(),
    events: agentAdapters.map(eventsOf).join('\n\n'),
    ran: ran(),
  }
  const text = template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => parts[name] ?? '')
  return { path: 'docs/agents.md', text }
}

const questions: Readonly<Record<Effect, string>> = {
  block: 'blocked',
  ask: 'asked',
  grant: 'granted',
  rewrite: 'rewritten',
  context: 'given context',
}
const effects = Object.keys(questions) as Effect[]

const yes = (is: boolean) => (is ? 'yes' : '')
const code = (text: string) => `\`${text}\``

/** The moments that hooks are mostly written for. */
const moments = [
  'pre_tool_use',
  'permission_request',
  'post_tool_use',
  'user_prompt_submit',
  'stop',
  'subagent_start',
] as const

function overview(): string {
  return markdownTable({
    head: ['agent', 'checked', 'by', ...moments.map(code), 'failing closed'],
    rows: agentAdapters.map((agent) => {
      const rows = connectedRows(agent)
      const closed = new Set(
        rows.filter(([, row]) => isGateEvent(row)).map(([, row]) => code(row.event ?? '')),
      )
      return [
        `${agent.title} (${code(agent.name)})`,
        agent.checked,
        agent.proof === 'run' ? 'running it' : 'its documentation',
        ...moments.map((moment) => canDo(rows.filter(([, row]) => row.event === moment))),
        [...closed].join(' '),
      ]
    }),
  })
}

function canDo(rows: readonly (readonly [string, NativeEvent])[]): string {
  if (rows.length === 0) return 'not there'
  const honoured = effects.filter((effect) => rows.some(([, { honours = [] }]) => honours.includes(effect)))
  return honoured.length === 0 ? 'observed' : honoured.map((effect) => questions[effect]).join(', ')
}

function connectedRows(agent: AgentAdapter): (readonly [string, NativeEvent])[] {
  const connected = defaultEvents(agent)
  return Object.entries(agent.events).filter(([name]) => connected.includes(name))
}

function tools(): string {
  const ours = [
    ...new Set(agentAdapters.flatMap((agent) => Object.values(agent.tools).map(({ name }) => name))),
  ].sort()
  const others = agentAdapters.filter((agent) => Object.keys(agent.tools).length > 0)
  return markdownTable({
    head: ['tool', ...others.map(({ title }) => title)],
    rows: ours.map((name) => [
      code(name),
      ...others.map((agent) =>
        Object.entries(agent.tools)
          .flatMap(([native, tool]) => (tool.name === name ? [code(native)] : []))
          .join(' '),
      ),
    ]),
  })
}

function unmapped(): string {
  return markdownTable({
    head: ['agent', 'tools'],
    rows: agentAdapters
      .filter(({ unmappedTools }) => unmappedTools.length > 0)
      .map(({ title, unmappedTools }) => [title, unmappedTools.map(code).join(' ')]),
  })
}

/** Which events close without a gateway. The plan of `connect` uses the same function. */
function offline(): string {
  const events = [
    ...new Set(agentAdapters.flatMap((agent) => connectedRows(agent).flatMap(([, row]) => row.event ?? []))),
  ]
  const described = events.map((event) => {
    const closing = agentAdapters.filter((agent) =>
      connectedRows(agent).some(([, row]) => row.event === event && isGateEvent(row)),
    )
    return { event, closing, ...offlineBehaviour(event, closing.length > 0) }
  })
  const groups = Map.groupBy(described, ({ does, why, closing }) =>
    JSON.stringify([does, closing.map(({ title }) => title).join(', '), why]),
  )
  return markdownTable({
    head: ['without a gateway', 'events', 'agents', 'why'],
    rows: [...groups].map(([key, list]) => {
      const [does = '', agents = '', why = ''] = JSON.parse(key) as string[]
      return [does, list.map(({ event }) => code(event)).join(' '), agents || 'all that send them', why]
    }),
  })
}

function offlineBehaviour(event: keyof typeof catalogue, isClosing: boolean) {
  const { mode, onFailure } = catalogue[event]
  if (isClosing)
    return {
      does: 'blocked',
      why: 'no hook has seen the call, and the agent honours a block before it happens',
    }
  if (mode === 'gate' && onFailure === 'block')
    return { does: 'passes', why: 'no agent can block it, so the event is only observed' }
  return mode === 'gate'
    ? {
        does: 'passes',
        why: 'a block would keep the agent working, or stop its housekeeping, and prevent nothing',
      }
    : { does: 'passes', why: 'it reports something that has already happened or that no hook decides' }
}

function eventsOf(agent: AgentAdapter): string {
  const connected = defaultEvents(agent)
  const table = markdownTable({
    head: [
      'event',
      'ours',
      ...effects.map((effect) => questions[effect]),
      'fails closed',
      'connected',
      'note',
    ],
    rows: Object.entries(agent.events).map(([name, row]: [string, NativeEvent]) => [
      code(name),
      [row.event, row.also].flatMap((event) => (event === undefined ? [] : [code(event)])).join(' '),
      ...effects.map((effect) => yes(row.honours?.includes(effect) === true)),
      yes(isGateEvent(row)),
      yes(connected.includes(name)),
      notes(row),
    ]),
  })
  return `### ${agent.title}\n\n${table}`
}

function notes({ rewriteGrants, maxTimeoutMs, note }: NativeEvent): string {
  return [
    ...(rewriteGrants ? ['a rewrite also grants'] : []),
    ...(note === undefined ? [] : [note]),
    ...(maxTimeoutMs === undefined || note?.includes(' s') ? [] : [`${maxTimeoutMs / 1_000} s at most`]),
  ].join('; ')
}

interface Ran {
  readonly packages: readonly string[]
  /** `true`, or what was seen instead. */
  readonly cases: Readonly<Record<string, true | string>>
}

const runText =
  'The real agents, offline and against a fake model. What counts is what the tool left behind: a file. A dash means that the agent has no way to do it.'

/** `npm run test:agents` leaves its results and writes this page; whoever was not run says so. */
function ran(): string {
  const text = readIfThere(RESULTS)
  if (text === undefined) return 'Nothing yet: `npm run test:agents` leaves its results here.'
  const results: Readonly<Record<string, Ran>> = JSON.parse(text)
  const table = markdownTable({
    head: ['case', ...agentAdapters.map(({ title }) => title)],
    rows: [
      ['package', ...agentAdapters.map((agent) => results[agent.name]?.packages.map(code).join(' ') ?? '')],
      ...allCases.map((each) => [
        `*${each.name}*`,
        ...agentAdapters.map((agent) => outcome(results[agent.name]?.cases[each.name])),
      ]),
    ],
  })
  const meanings = allCases.map(({ name, about }) => `- *${name}*: ${about}`)
  return `${runText}\n\n${table}\n\n${meanings.join('\n')}`
}

function outcome(seen: true | string | undefined): string {
  if (seen === true) return 'yes'
  if (seen === 'not tried') return '–'
  return seen === undefined ? 'not run' : 'no'
}
