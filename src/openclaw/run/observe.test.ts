import { expect, test } from 'vitest'
import { boom, fail, hostWith, on } from '../../../test/openclaw/plugins.fixture.ts'

const ctx = { sessionId: 's' }
const session = { sessionId: 's' }

test('OC-16 all observers start before the first one is done, and all are waited for', async () => {
  const steps: string[] = []
  const gates = { a: Promise.withResolvers<void>(), b: Promise.withResolvers<void>() }
  const observer = (id: keyof typeof gates) =>
    on('session_start', async () => {
      steps.push(`${id} starts`)
      await gates[id].promise
      steps.push(`${id} ends`)
    })
  const { runner } = hostWith([observer('a'), observer('b')])
  const run = runner.runSessionStart(session, ctx).then(() => steps.push('run ends'))
  expect(steps).toEqual(['a starts', 'b starts'])
  gates.b.resolve()
  await new Promise(setImmediate)
  expect(steps).toEqual(['a starts', 'b starts', 'b ends'])
  gates.a.resolve()
  await run
  expect(steps).toEqual(['a starts', 'b starts', 'b ends', 'a ends', 'run ends'])
})

test('OC-16 what observers return is ignored', async () => {
  const { runner } = hostWith([on('session_end', () => ({ block: true }))])
  expect(await runner.runSessionEnd({ sessionId: 's', messageCount: 1 }, ctx)).toBeUndefined()
})

test('OC-16 a throw is caught like a rejection, and the others still run', async () => {
  const ran: string[] = []
  const { runner, log } = hostWith([
    on('session_start', boom, { pluginId: 'throws' }),
    on('session_start', () => Promise.reject(new Error('bang')), { pluginId: 'rejects' }),
    on('session_start', () => ran.push('third')),
  ])
  await runner.runSessionStart(session, ctx)
  expect(ran).toEqual(['third'])
  expect(log.slice(1)).toEqual([
    'error [hooks] session_start handler from throws failed: boom',
    'error [hooks] session_start handler from rejects failed: bang',
  ])
})

test('OC-16 a closed hook rejects with the first error, though all were started', async () => {
  const ran: string[] = []
  const { runner } = hostWith(
    [
      on('session_start', async () => {
        await Promise.resolve()
        fail('later')
      }),
      on('session_start', () => fail('first'), { pluginId: 'quick' }),
      on('session_start', () => ran.push('third')),
    ],
    { catchErrors: false },
  )
  await expect(runner.runSessionStart(session, ctx)).rejects.toThrow(
    '[hooks] session_start handler from quick failed: first',
  )
  expect(ran).toEqual(['third'])
})
