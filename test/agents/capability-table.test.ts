import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Effect, NativeEvent } from '../../src/agents/agent-adapter.ts'
import { agentAdapters, findAdapter } from '../../src/agents/table.ts'
import { isGateEvent } from '../../src/connect/hook-command.ts'
import { catalogue } from '../../src/engine/events/catalogue.ts'
import { payloadNames } from './payloads.fixture.ts'

const rows = agentAdapters.flatMap((agent) =>
  Object.entries(agent.events).map(([name, row]: [string, NativeEvent]) => ({ agent, name, row })),
)

/** What a decision about an event can carry at all. */
function possible(event: keyof typeof catalogue): readonly Effect[] {
  const { mode, rewrites } = catalogue[event]
  const rewrite: readonly Effect[] = rewrites === undefined ? [] : ['rewrite']
  if (mode === 'gate') return ['block', 'ask', 'grant', 'context', ...rewrite]
  return mode === 'transform' ? ['context', ...rewrite] : []
}

test('every agent is found by its name, and only by it', () => {
  for (const agent of agentAdapters) expect(findAdapter(agent.name)).toBe(agent)
  expect(new Set(agentAdapters.map(({ name }) => name)).size).toBe(agentAdapters.length)
  expect(findAdapter('constructor')).toBeUndefined()
})

describe.each(rows)('$agent.title $name', ({ row }) => {
  test('names a real event, and promises only what its decisions can hold', () => {
    if (row.event === undefined) return expect(row.honours).toBeUndefined()
    expect(catalogue).toHaveProperty(row.event)
    for (const effect of row.honours ?? []) expect(possible(row.event)).toContain(effect)
    if (row.also !== undefined) expect(catalogue).toHaveProperty(row.also)
    if (row.rewriteGrants) expect(row.honours).toContain('rewrite')
  })

  test('what there is to know about it is one line', () => {
    expect(row.note ?? 'nothing to add').toMatch(/^[^\n|]{10,}$/)
  })
})

test('no payload was recorded of an event that the table does not have', () => {
  for (const agent of agentAdapters)
    for (const name of payloadNames(agent.name)) {
      const event = Object.keys(agent.events).find((each) => name === each || name.startsWith(`${each}.`))
      if (agent.transport === 'command')
        expect([agent.name, name, event]).toEqual([agent.name, name, expect.any(String)])
    }
})

test('a tool has a name in Hookhelm or is listed as unmapped, never both', () => {
  for (const { name, tools, unmappedTools } of agentAdapters) {
    expect([name, unmappedTools.filter((tool) => Object.hasOwn(tools, tool))]).toEqual([name, []])
    expect(new Set(unmappedTools).size).toBe(unmappedTools.length)
  }
})

test('the events that the docs call closed without a gateway are those that the plugins close', () => {
  for (const agent of agentAdapters.filter(({ transport }) => transport === 'plugin')) {
    const file = new URL(`../../src/agents/${agent.name}/plugin.js`, import.meta.url)
    const source = readFileSync(file, 'utf8')
    const gated = [...source.matchAll(/(?:link\.gate|askPrompt)\(\s*'([^']+)'/g)].map(([, event]) => event)
    const closed = Object.entries(agent.events).filter(([, row]) => isGateEvent(row))
    expect(gated.toSorted()).toEqual(closed.map(([name]) => name).toSorted())
  }
})

test('one moment is connected once, but for tools of MCP servers in Cursor', () => {
  for (const agent of agentAdapters.filter(({ transport }) => transport === 'command')) {
    const connected = Object.entries(agent.events).filter(([, row]) => !row.chatty)
    const events = connected.flatMap(([name, { event }]) => (event === undefined ? [] : [[name, event]]))
    const twice = events.filter(([, event], at) => events.some(([, other], i) => i < at && other === event))
    expect(twice.map(([name]) => name)).toEqual(agent.name === 'cursor' ? ['beforeMCPExecution'] : [])
  }
})
