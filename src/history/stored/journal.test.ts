import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EventRecord } from '../audit-tables.ts'
import { decodeBatch, encodeBatch } from './recording.ts'

test('a group reads back as it was, whatever its requests are', () => {
  const text = fc.string({ unit: 'binary' }).map((raw) => raw.toWellFormed())
  const record = fc.record({ request: text, answer: text, event_id: text, session_id: fc.option(text) })
  fc.assert(
    fc.property(fc.array(record), (batch) => {
      const given = batch as unknown as readonly EventRecord[]
      expect(decodeBatch(Buffer.from(encodeBatch(given)).toString('utf8'))).toEqual(given)
    }),
  )
})
