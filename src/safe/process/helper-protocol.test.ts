import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFrameReader, encodeFrame, type FrameHead } from './helper-protocol.ts'

test('frames come out as they went in, however a pipe cuts them', () => {
  const frames = fc.array(
    fc.record({ n: fc.integer(), text: fc.string(), body: fc.uint8Array({ maxLength: 300 }) }),
  )
  fc.assert(
    fc.property(frames, fc.integer({ min: 1, max: 64 }), (list, step) => {
      const bytes = Buffer.concat(
        list.map(({ n, text, body }) => encodeFrame({ n, text }, Buffer.from(body))),
      )
      const seen: { head: FrameHead; body: number[] }[] = []
      const push = createFrameReader((head, body) => seen.push({ head, body: [...body] }))
      for (let at = 0; at < bytes.length; at += step) push(bytes.subarray(at, at + step))
      expect(seen).toEqual(list.map(({ n, text, body }) => ({ head: { n, text }, body: [...body] })))
    }),
  )
})
