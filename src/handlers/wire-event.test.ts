import { expect, test } from 'vitest'
import type { Envelope, HookContext } from '../engine/core/context.ts'
import { toWireEvent } from './wire-event.ts'

function contextOf(event: string, envelope: Envelope = {}): HookContext {
  const { signal } = new AbortController()
  return {
    event,
    id: 'e1',
    time: 0,
    depth: 2,
    timeoutMs: 5_000,
    envelope,
    original: {},
    signal,
    report: () => {},
  }
}

test('what we know is there, what nobody said is not', () => {
  expect(toWireEvent({ prompt: 'hi' }, contextOf('user_prompt_submit'))).toEqual({
    hook_event_name: 'UserPromptSubmit',
    event: 'user_prompt_submit',
    event_id: 'e1',
    depth: 2,
    prompt: 'hi',
  })
})

test('the client’s spelling of the event and its own fields go along', () => {
  const raw = {
    hook_event_name: 'BeforeTool',
    transcript_path: '/t',
    permission_mode: 'plan',
    session_id: 'theirs',
  }
  const wire = toWireEvent({ tool_name: 'x', tool_input: {}, mcp: true }, contextOf('pre_tool_use', { raw }))
  expect(wire).toMatchObject({ ...raw, event: 'pre_tool_use', tool_name: 'x', mcp: true })
})

test('what the hooks before made of the input stands before what the client sent', () => {
  const raw = { tool_input: { command: 'rm -rf /' } }
  const wire = toWireEvent(
    { tool_name: 'x', tool_input: { command: 'ls' } },
    contextOf('pre_tool_use', { raw }),
  )
  expect(wire).toMatchObject({ tool_input: { command: 'ls' } })
})

test('a client cannot name the event, its id, its depth or its tenant', () => {
  const forged = { event: 'stop', event_id: 'x', depth: 0, tenant_id: 'other', session_id: 'other' }
  const context = contextOf('pre_tool_use', { raw: forged, session: 's' })
  const wire = toWireEvent(forged, context)
  expect(wire).toMatchObject({ event: 'pre_tool_use', event_id: 'e1', depth: 2, session_id: 's' })
  expect(wire).not.toHaveProperty('tenant_id')
  expect(toWireEvent(forged, contextOf('stop', { tenant: 't' }))).toMatchObject({ tenant_id: 't' })
})

test.each([null, 'text', 7, []])('a payload or raw payload that is %j adds nothing', (odd) => {
  const wire = toWireEvent(odd, contextOf('stop', { raw: odd }))
  expect(Object.keys(wire).toSorted()).toEqual(['depth', 'event', 'event_id', 'hook_event_name'])
})
