import { describe, expect, test } from 'vitest'
import { examples } from '../../../../test/openclaw/examples.fixture.ts'
import type { EventRow } from '../../core/event.ts'
import { lifecycleEquivalents, openclawRows } from './rows.ts'

const rows: Readonly<Record<string, EventRow>> = openclawRows
const named = (fits: (row: EventRow) => boolean) =>
  Object.keys(rows).filter((name) => rows[name] && fits(rows[name]))
const free = new Set(['result', 'lastAssistant'])

describe('the 36 rows', () => {
  test('18 observe, 9 transform, 5 are gates and 4 claim', () => {
    expect(named((row) => row.mode === 'observe')).toHaveLength(18)
    expect(named((row) => row.mode === 'transform')).toHaveLength(9)
    expect(named((row) => row.mode === 'gate').sort()).toEqual([
      'before_agent_run',
      'before_install',
      'before_message_write',
      'before_tool_call',
      'message_sending',
    ])
    expect(named((row) => row.mode === 'claim').sort()).toEqual([
      'before_agent_reply',
      'before_dispatch',
      'inbound_claim',
      'reply_dispatch',
    ])
  })

  test('only the two transcript hooks are synchronous, and both hand the message on', () => {
    expect(named((row) => row.sync).sort()).toEqual(['before_message_write', 'tool_result_persist'])
    expect(named((row) => row.rewrites === 'message').sort()).toEqual([
      'before_message_write',
      'tool_result_persist',
    ])
  })

  test('every gate can say when it blocks', () => {
    for (const name of named((row) => row.mode === 'gate')) expect(rows[name]?.verdict).toBeTypeOf('function')
  })

  test('nine hooks are the same moment as a lifecycle event', () => {
    expect(Object.keys(lifecycleEquivalents)).toHaveLength(9)
    expect(lifecycleEquivalents.before_tool_call).toBe('pre_tool_use')
    expect(lifecycleEquivalents.before_agent_finalize).toBe('stop')
  })

  test('there is an example of each', () => {
    expect(Object.keys(examples).sort()).toEqual(Object.keys(rows).sort())
  })
})

describe.each(Object.entries(examples))('the payload of %s', (name, { least, more }) => {
  const check = rows[name]?.payload ?? (() => ({ path: '', expected: 'a row' }))
  const full = { ...least, ...more }

  test('may be as small or as full as the original allows', () => {
    expect(check(least)).toBeUndefined()
    expect(check(full)).toBeUndefined()
    expect(check({ ...full, somethingNew: 1 })).toBeUndefined()
  })

  test('must have every field that is not optional', () => {
    for (const key of Object.keys(least)) {
      expect(check({ ...full, [key]: undefined }), key).toMatchObject({ path: key })
    }
  })

  test('must have the right type in every field', () => {
    for (const key of Object.keys(full).filter((key) => !free.has(key))) {
      expect(check({ ...full, [key]: Symbol('wrong') }), key).toMatchObject({ path: key })
    }
  })
})

describe('what the gates say', () => {
  const verdict = (name: string, result: Record<string, unknown>) => rows[name]?.verdict?.(result)

  test('a tool call is blocked with the reason of the hook, or left to a person', () => {
    expect(verdict('before_tool_call', { block: true, blockReason: 'rm' })).toEqual({
      kind: 'block',
      reason: 'rm',
    })
    const requireApproval = { title: 'Delete?', description: 'It deletes.' }
    expect(verdict('before_tool_call', { requireApproval })).toEqual({
      kind: 'ask',
      reason: 'Delete?',
      message: 'It deletes.',
    })
    expect(verdict('before_tool_call', { block: true, requireApproval })).toMatchObject({ kind: 'block' })
    expect(verdict('before_tool_call', { params: {} })).toBeUndefined()
  })

  test('a cancelled message, an unwritten one and a refused install are blocks', () => {
    expect(verdict('message_sending', { cancel: true })).toMatchObject({ kind: 'block' })
    expect(verdict('message_sending', { content: 'x' })).toBeUndefined()
    expect(verdict('before_message_write', { block: true })).toMatchObject({ kind: 'block' })
    expect(verdict('before_install', { block: true, blockReason: 'malware' })).toEqual({
      kind: 'block',
      reason: 'malware',
    })
    expect(verdict('before_install', { block: true, blockReason: '' })).toMatchObject({
      reason: 'a hook blocked this install',
    })
  })

  test('OC-70 the internal reason of a refused run never stands in for the message', () => {
    expect(verdict('before_agent_run', { outcome: 'block', reason: 'list 7' })).toEqual({
      kind: 'block',
      reason: 'list 7',
      message: 'Your message could not be sent: blocked',
    })
    expect(verdict('before_agent_run', { outcome: 'pass' })).toBeUndefined()
    expect(verdict('before_agent_run', { outcome: 'ask' })).toBe('invalid')
  })
})
