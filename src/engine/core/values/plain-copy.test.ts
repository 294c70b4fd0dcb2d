import { expect, test } from 'vitest'
import { plainCopy } from './plain-copy.ts'

test('a number beyond what a double holds keeps its digits', () => {
  const { rawJSON } = JSON as unknown as { rawJSON(source: string): unknown }
  const copy = plainCopy({ id: rawJSON('9007199254740993'), list: [rawJSON('1e999')] })
  expect(JSON.stringify(copy)).toBe('{"id":9007199254740993,"list":[1e999]}')
})

test('a getter is asked once', () => {
  let asked = 0
  const copy = plainCopy({
    get command() {
      asked += 1
      return asked
    },
  })
  expect([copy, asked]).toEqual([{ command: 1 }, 1])
})
