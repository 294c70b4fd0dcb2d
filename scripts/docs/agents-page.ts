import { readFileSync } from 'node:fs'
import type { AgentAdapter, Effect, NativeEvent } from '../../src/agents/agent-adapter.ts'
import { defaultEvents } from '../../src/agents/capability-warnings.ts'
import { agentAdapters } from '../../src/agents/table.ts'
import { isGateEvent } from '../../src/connect/hook-command.ts'
import { cases as knownCases } from '../../test/agents-real/cases.ts'
import { markdownTable, type Page, readIfThere } from '../page.ts'

const RESULTS = 'test/agents/results.json'

/** What the tables of the agentAdapters say, between words that are written by hand beside this file. */
export function agentsPage(): Page {
  const template = readFileSync(new URL('agents-page.md', import.meta.url), 'utf8')
  const parts: Readonly<Record<string, string>> = {
    overview: overview(),
    tools: tools(),
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
  'The real agentAdapters, offline and against a model that is not one. What counts is what the tool left behind: a file.'

/** `npm run test:agents` leaves its results; whoever was not run says so. */
function ran(): string {
  const text = readIfThere(RESULTS)
  if (text === undefined) return 'Nothing yet: `npm run test:agents` leaves its results here.'
  const results: Readonly<Record<string, Ran>> = JSON.parse(text)
  const cases = [...new Set(Object.values(results).flatMap((each) => Object.keys(each.cases)))]
  const table = markdownTable({
    head: ['agent', 'package', ...cases],
    rows: agentAdapters.map(({ name, title }) => {
      const result = results[name]
      if (result === undefined) return [title, '', ...cases.map(() => 'not run')]
      return [title, result.packages.map(code).join(' '), ...cases.map((each) => outcome(result.cases[each]))]
    }),
  })
  const meanings = knownCases.map(({ name, about }) => `- *${name}*: ${about}`)
  return `${runText}\n\n${table}\n\n${meanings.join('\n')}`
}

function outcome(seen: true | string | undefined): string {
  if (seen === true) return 'yes'
  return seen === undefined || seen === 'not tried' ? 'not run' : 'no'
}
