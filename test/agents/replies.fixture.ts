import { expect, test } from 'vitest'
import type { AgentAdapter } from '../../src/agents/agent-adapter.ts'
import { eventOf, outcomes, payload, payloadNames, rewriting } from './payloads.fixture.ts'

type Kind = keyof typeof outcomes

interface Row {
  /** What is answered to each outcome; the answer to `pass` where none is given. */
  readonly replies: Readonly<Partial<Record<Kind, object>>>
  /** A changed input, and what is answered then. */
  readonly rewrite?: readonly [input: unknown, reply: object]
}

/** Holds an agent to its table: every event, every kind of outcome. What is not in the table has no effect anywhere. */
export function repliesOf(agent: AgentAdapter, nothing: object, rows: Readonly<Record<string, Row>>): void {
  const names = payloadNames(agent.name).filter((name) => !name.includes('.') || name in rows)
  for (const name of names) {
    const { replies = {}, rewrite = [{ command: 'true' }, nothing] } = rows[name] ?? {}
    const reply = (outcome: Parameters<AgentAdapter['reply']>[1]) =>
      agent.reply(eventOf(name), outcome, payload(agent.name, name))
    for (const kind of Object.keys(outcomes) as Kind[])
      test(`${name} ${kind}`, () => {
        expect(reply(outcomes[kind])).toEqual(replies[kind] ?? nothing)
      })
    test(`${name} rewrite`, () => {
      expect(reply(rewriting(rewrite[0]))).toEqual(rewrite[1])
    })
  }
  test('every event of the table was asked about', () => {
    for (const name of Object.keys(rows)) expect(names).toContain(name)
  })
}
