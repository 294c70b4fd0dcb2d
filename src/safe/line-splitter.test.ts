import { expect, test } from 'vitest'
import { LineSplitter } from './line-splitter.ts'

function read(chunks: readonly string[], maxBytes = 100): { lines: string[]; fits: boolean } {
  const lines = new LineSplitter(maxBytes)
  const found: string[] = []
  const fits = chunks.every((chunk) => lines.push(Buffer.from(chunk), (line) => found.push(line.toString())))
  return { lines: found, fits }
}

test('lines are the same however the bytes are cut', () => {
  const text = 'one\n\ntwo three\nfour'
  const whole = { lines: ['one', '', 'two three'], fits: true }
  expect(read([text])).toEqual(whole)
  expect(read([...text])).toEqual(whole)
  for (let cut = 0; cut < text.length; cut += 1) {
    expect(read([text.slice(0, cut), text.slice(cut)].filter(Boolean))).toEqual(whole)
  }
})

test('a line may be as long as allowed and no longer, ended or not', () => {
  expect(read(['12345\n'], 5)).toEqual({ lines: ['12345'], fits: true })
  expect(read(['12', '345\n'], 5)).toEqual({ lines: ['12345'], fits: true })
  expect(read(['1\n123456\n'], 5)).toEqual({ lines: ['1'], fits: false })
  expect(read(['123', '456'], 5)).toEqual({ lines: [], fits: false })
})
