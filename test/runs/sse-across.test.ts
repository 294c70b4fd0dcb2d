import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { GatewayOptions } from '../../src/app/gateway/open-gateway.ts'
import { type Running, running } from '../gateway/running.fixture.ts'
import { freshDatabase, type TestDatabase } from '../postgres/database.ts'
import { runsOf } from './runs.fixture.ts'
import { readStream, type StreamedEvent } from './session-stream.fixture.ts'

const HANG = 120_000

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

/** Two gateways on one database, an agent, and a runner that is only a client of the second gateway. */
async function twoGateways() {
  const options: GatewayOptions = {
    database: database.url,
    edition: 'standard',
    runs: { pollMs: 300 },
    env: { HOOKHELM_ENCRYPTION_KEY: 'cd'.repeat(32) },
  }
  const [a, b] = [await running(options), await running(options)]
  const name = `agent-${Math.random().toString(36).slice(2)}`
  const onA = runsOf(a)
  const onB = runsOf(b)
  const executor = { profile: 'words' }
  await onA.ok('POST', '/agents', { name, type: 'procedural', executor, demands: { tags: [name] } })
  const offer = { hostname: 'here', project_dir: '', executor_profile: 'words', tags: [name] }
  const { runner_id } = await onB.ok('POST', '/runner/register', offer)
  const report = (run_id: string, what: string, fields = {}) =>
    onB.ok('POST', `/runner/runs/${run_id}/${what}`, { runner_id, ...fields })
  return {
    ...{ a, b, name, onA, onB, report },
    /** Runs the agent to its end at the second gateway, with so many events of its own. */
    async complete(run_id: string, count: number): Promise<void> {
      await onB.ok('GET', `/runner/runs?runner_id=${runner_id}`)
      await report(run_id, 'started')
      for (let n = 0; n < count; n += 50) {
        const events = Array.from({ length: Math.min(50, count - n) }, (_, index) => ({
          ...{ event_type: 'message', data: { n: n + index } },
        }))
        await report(run_id, 'events', { events })
      }
      await report(run_id, 'completed')
    },
  }
}

const idsOf = (events: readonly StreamedEvent[]) => events.map(({ data }) => data.event_id)
const hasEnded = (events: readonly StreamedEvent[]) => events.some(isLast)
const isLast = ({ data }: StreamedEvent) =>
  data.event_type === 'session_updated' && data.status === 'finished'

describe('GET /sse/sessions on two gateways', () => {
  test(
    'AO-48 a client of one gateway sees, in order, what is reported at the other',
    async () => {
      const { a, name, onA, complete } = await twoGateways()
      const { run_id, session_id } = await onA.start(name)
      const opened = Promise.withResolvers<void>()
      const query = `?session_id=${session_id}`
      const reading = readStream(a, hasEnded, { query, onOpen: opened.resolve })
      await opened.promise
      await complete(run_id, 3)
      const seen = await reading
      expect(seen[0]?.name).toBe('init')
      const stored = (await onA.events(session_id)).filter(
        ({ event_type }) => event_type !== 'session_created',
      )
      expect(idsOf(seen.slice(1))).toEqual(stored.map(({ event_id }) => event_id))
    },
    HANG,
  )

  test(
    'AO-48 a client that reconnects to the other gateway every few events gets no event twice and misses none',
    async () => {
      const { a, b, name, onA, complete } = await twoGateways()
      const { nextCursor } = await onA.ok('POST', '/v1/call/runSessions.tail', {})
      const { run_id, session_id } = await onA.start(name)
      const completing = complete(run_id, 150)
      const seen: StreamedEvent[] = []
      for (let turn = 0; !hasEnded(seen); turn++) {
        const at: Running = turn % 2 === 0 ? a : b
        const headers = { 'last-event-id': seen.at(-1)?.id ?? nextCursor }
        const few = (events: readonly StreamedEvent[]) => events.length === 7 || hasEnded(events)
        seen.push(...(await readStream(at, few, { headers })))
      }
      await completing
      expect(seen.every(({ name: event }) => event !== 'init')).toBe(true)
      const stored = await onA.events(session_id)
      expect(stored).toHaveLength(155)
      expect(idsOf(seen)).toEqual(stored.map(({ event_id }) => event_id))
    },
    HANG,
  )

  test(
    'AO-48 a deleted session is an event like the others: live at the other gateway, replayed, and filtered by creator',
    async () => {
      const { a, b, name, onA, onB, complete } = await twoGateways()
      const { run_id, session_id } = await onA.start(name)
      await complete(run_id, 0)
      const opened = Promise.withResolvers<void>()
      const isDeleted = (events: readonly StreamedEvent[]) =>
        events.some((event) => event.name === 'session_deleted')
      const live = readStream(a, isDeleted, { onOpen: opened.resolve })
      await opened.promise
      const { nextCursor } = await onA.ok('POST', '/v1/call/runSessions.tail', {})
      await b.until(
        () => b.call('DELETE', `/sessions/${session_id}`),
        ({ status }) => status === 200,
      )
      const deleted = { session_id, event_type: 'session_deleted', event_id: `${session_id}-deleted` }
      expect((await live).at(-1)).toMatchObject({ data: deleted })
      const headers = { 'last-event-id': nextCursor }
      for (const at of [a, b])
        expect((await readStream(at, isDeleted, { headers })).at(-1)).toMatchObject({ data: deleted })
      const { created_by } = (await live).at(-1)?.data ?? {}
      const mine = await readStream(a, isDeleted, { headers, query: `?created_by=${created_by}` })
      expect(mine.at(-1)).toMatchObject({ data: deleted })
      // A later event shows that the deletion was left out before it.
      const { session_id: later } = await onB.start(name)
      const others = await readStream(a, (events) => events.some(({ data }) => data.session_id === later), {
        headers,
        query: `?session_id=${later}`,
      })
      expect(others.every(({ data }) => data.session_id === later)).toBe(true)
    },
    HANG,
  )
})
