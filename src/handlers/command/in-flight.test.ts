import { expect, test } from 'vitest'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { InFlight } from './in-flight.ts'

function asking() {
  const inFlight = new InFlight()
  const answers: string[] = []
  const add = (name: string) =>
    inFlight.add({
      answer: ({ n }) => answers.push(`${name}=${n}`),
      fail: ({ code }) => answers.push(`${name}:${code}`),
    })
  return { inFlight, answers, add }
}

test('a late answer without a name is not taken for that of the next event', () => {
  const { inFlight, answers, add } = asking()
  add('a')
  const b = add('b')
  inFlight.settle({ n: 1 })
  expect(inFlight.abandon(b)).toBe(false)
  add('c')
  inFlight.settle({ n: 2 })
  inFlight.settle({ n: 3 })
  expect(answers).toEqual(['a=1', 'c=3'])
})

test('a worker that was silent since the event came hangs; so does one that left too many unanswered', () => {
  const { inFlight, add } = asking()
  expect(inFlight.abandon(add('a'))).toBe(true)
  const hangs = Array.from({ length: 66 }, () => {
    const id = add('x')
    inFlight.settle({ id: add('y') })
    return inFlight.abandon(id)
  })
  expect(hangs.indexOf(true)).toBe(63)
  expect(inFlight.abandon('unknown')).toBe(false)
})

test('all fail at once when the worker does', () => {
  const { inFlight, answers, add } = asking()
  add('a')
  add('b')
  inFlight.failAll(handlerError('process.worker', 'gone'))
  expect(answers).toEqual(['a:process.worker', 'b:process.worker'])
  expect(inFlight.size).toBe(0)
})
