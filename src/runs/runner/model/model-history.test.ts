import type { ModelMessage } from 'ai'
import { expect, test } from 'vitest'
import type { NewSessionEvent } from '../../run-events.ts'
import { createModelHistory, readModelHistory, type StoredMessages } from './model-history.ts'

const says = (content: string): ModelMessage => ({ role: 'user', content })

/** The histories of several executions, as the events of one session. */
function session() {
  const stored: StoredMessages[] = []
  return {
    stored,
    execute(run_id: string, earlier: readonly ModelMessage[] = []) {
      const keep = ({ data }: NewSessionEvent) =>
        void stored.push({ run_id, ...data } as unknown as StoredMessages)
      return createModelHistory(earlier, keep)
    },
  }
}

test('a later run reads what all earlier ones kept, and not what it kept itself', () => {
  const { stored, execute } = session()
  execute('one').add([says('a'), says('b')])
  const earlier = readModelHistory(stored, 'two')
  execute('two', earlier).add([says('c')])
  expect(readModelHistory(stored, 'three')).toEqual([says('a'), says('b'), says('c')])
  expect(readModelHistory(stored, 'two')).toEqual([says('a'), says('b')])
})

test('of a run that was executed twice only the last execution counts', () => {
  const { stored, execute } = session()
  execute('one').add([says('lost'), says('half')])
  execute('one').add([says('again')])
  expect(readModelHistory(stored, 'two')).toEqual([says('again')])
})

test('compaction replaces the messages of earlier runs too', () => {
  const { stored, execute } = session()
  execute('one').add([says('a'), says('b')])
  const two = execute('two', [says('a'), says('b')])
  two.replace([says('summary'), says('c')])
  two.add([says('d')])
  expect(readModelHistory(stored, 'three')).toEqual([says('summary'), says('c'), says('d')])
})

test('a session with a gap is not resumed as if nothing were missing', () => {
  const { stored, execute } = session()
  const one = execute('one')
  one.add([says('a')])
  one.add([says('b')])
  expect(() => readModelHistory(stored.slice(1), 'two')).toThrow('incomplete')
  expect(() =>
    readModelHistory([{ run_id: 'x', execution: 'e', from: 0, messages: [{ role: 'thief' }] }], 'two'),
  ).toThrow('incomplete')
})

test('events stay small: many messages are split, and a part that is too long is cut', () => {
  const { stored, execute } = session()
  const long = 'y'.repeat(900_000)
  const result: ModelMessage = {
    role: 'tool',
    content: [
      { type: 'tool-result', toolCallId: '1', toolName: 'Read', output: { type: 'text', value: long } },
      { type: 'tool-result', toolCallId: '2', toolName: 'Read', output: { type: 'text', value: 'short' } },
    ],
  }
  const call: ModelMessage = {
    role: 'assistant',
    content: [{ type: 'tool-call', toolCallId: '1', toolName: 'Write', input: { content: long } }],
  }
  execute('one').add([call, result, ...Array.from({ length: 9 }, () => says('z'.repeat(90_000)))])
  for (const event of stored) expect(JSON.stringify(event).length).toBeLessThan(300_000)
  const read = readModelHistory(stored, 'two')
  expect(read).toHaveLength(11)
  expect(JSON.stringify(read[1])).toContain('(900000 characters)')
  expect(JSON.stringify(read[1])).toContain('short')
})
