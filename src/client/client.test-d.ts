import { expectTypeOf, test } from 'vitest'
import type { Decision } from '../engine/core/decision.ts'
import { createClient, type DispatchResult } from './index.ts'

const client = createClient()

test('the catalogue types the payload of an event', () => {
  const sent = client.dispatch({ event: 'pre_tool_use', payload: { tool_name: 'Bash', tool_input: {} } })
  expectTypeOf(sent).resolves.toEqualTypeOf<DispatchResult>()
  // @ts-expect-error a tool name is a string
  client.dispatch({ event: 'pre_tool_use', payload: { tool_name: 7, tool_input: {} } })
  // @ts-expect-error a tool call has a name
  client.decide({ event: 'pre_tool_use', payload: {} })
})

test('an event that only the gateway knows takes any payload', () => {
  expectTypeOf(client.decide({ event: 'deploy_started', payload: 7 })).resolves.toEqualTypeOf<Decision>()
  const name: string = 'pre_tool_use'
  expectTypeOf(client.dispatch({ event: name, payload: null })).resolves.toEqualTypeOf<DispatchResult>()
})
