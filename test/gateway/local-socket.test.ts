import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { exec } from './judge.fixture.ts'
import { shared } from './running.fixture.ts'

const gateway = shared(() => ({ functions: { no: () => ({ kind: 'block', reason: 'not here' }) } }))

test('the unix socket decides as HTTP does, for its owner alone, and its events are recorded', async () => {
  const { socket = '' } = gateway()
  expect(statSync(dirname(socket)).mode & 0o777).toBe(0o700)
  expect(statSync(socket).mode & 0o777).toBe(0o600)
  const client = createClient({ socket })
  onTestFinished(() => client.close())
  const hookId = await gateway().hook({
    event: 'pre_tool_use',
    handler_type: 'function',
    config: { name: 'no' },
  })
  const event = { event: 'PreToolUse', payload: exec('ls'), envelope: { id: 'over-the-socket' } }
  const { eventId, decision } = await client.dispatch(event)
  const over = await gateway().call('POST', '/v1/dispatch', { ...event, envelope: { id: 'over-http' } })
  expect(decision).toEqual(over.body.decision)
  expect(decision).toMatchObject({ kind: 'block', by: hookId })
  await gateway().until(
    () => gateway().call('GET', `/v1/executions?eventId=${eventId}`),
    ({ body }) => body.executions.length === 1,
  )
  await expect(client.call('hooks.list', {})).rejects.toThrow()
})
