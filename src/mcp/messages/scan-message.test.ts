import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scanMessage, splitArray } from './scan-message.ts'

const value = fc.jsonValue({ maxDepth: 4 })
const key = fc.oneof(fc.constantFrom('id', 'method', 'result', 'error'), fc.string())

test('for any object: the same as reading all of it', () => {
  fc.assert(
    fc.property(fc.dictionary(key, value), fc.constantFrom(0, 1, 3), (message, indent) => {
      const seen = scanMessage(Buffer.from(JSON.stringify(message, undefined, indent)))
      expect(seen).toEqual({
        kind: 'message',
        id: Object.hasOwn(message, 'id') ? JSON.parse(JSON.stringify(message.id)) : undefined,
        method: Object.hasOwn(message, 'method') ? JSON.parse(JSON.stringify(message.method)) : undefined,
        isResponse: Object.hasOwn(message, 'result') || Object.hasOwn(message, 'error'),
      })
    }),
    { numRuns: 2_000 },
  )
})

test('for any list: the bytes of each item', () => {
  fc.assert(
    fc.property(fc.array(value), fc.constantFrom(0, 2), (list, indent) => {
      const items = splitArray(Buffer.from(JSON.stringify(list, undefined, indent)))
      expect(items?.map((item) => JSON.parse(item.toString()))).toEqual(JSON.parse(JSON.stringify(list)))
    }),
    { numRuns: 1_000 },
  )
})

test.each([
  ...['', ' ', 'null', '7', '"text"', '{', '{"id"', '{"id":', '{"id":1', '{"id":1,', '{"id":1,}', '{id:1}'],
  ...['{"id":1}{"id":2}', '{"id":1,"id":2}', '{"result":1,"result":2}', '{"a":"', '{"a":"\\"}', '{"a":[}'],
])('%j is none', (text) => {
  expect(scanMessage(Buffer.from(text))).toBeUndefined()
})

test.each(['', '{}', '[', '[1', '[1,', '[1,]', '[1 2]', '[1]2', '[[1]'])('%j is no list', (text) => {
  expect(splitArray(Buffer.from(text))).toBeUndefined()
})
