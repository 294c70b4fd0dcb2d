import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EventSplitter, eventData, replaceEventData } from './event-stream.ts'

const text = fc
  .array(fc.constantFrom('\n', '\r', '\r\n', 'data: x', 'id: 1', ': c', 'ä'))
  .map((all) => all.join(''))

function split(bytes: Buffer, step: number): Buffer[] {
  const splitter = new EventSplitter()
  const events: Buffer[] = []
  for (let at = 0; at < bytes.length; at += step) events.push(...splitter.push(bytes.subarray(at, at + step)))
  return [...events, splitter.rest()]
}

test('for any stream, however it is cut: every byte comes out, and the same messages', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 9 }), (stream, step) => {
      const bytes = Buffer.from(stream)
      const events = split(bytes, step)
      expect(Buffer.concat(events).equals(bytes)).toBe(true)
      const messages = (all: Buffer[]) => all.flatMap((event) => eventData(event)?.toString() ?? [])
      expect(messages(events)).toEqual(messages(split(bytes, bytes.length || 1)))
    }),
    { numRuns: 2_000 },
  )
})

test('another message keeps the other fields', () => {
  const event = Buffer.from('event: message\r\nid: 9\r\ndata: a\r\ndata:b\r\n\r\n')
  expect(eventData(event)?.toString()).toBe('a\nb')
  expect(replaceEventData(event, Buffer.from('c')).toString()).toBe('event: message\nid: 9\ndata: c\n\n')
})
