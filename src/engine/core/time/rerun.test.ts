import { expect, test } from 'vitest'
import { rerun } from './rerun.ts'

test('calls during a run share one more run, however many they are', async () => {
  let runs = 0
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const work = rerun(async () => {
    await gates[runs++]?.promise
  })
  const calls = [work(), work(), work()]
  expect(runs).toBe(1)
  gates[0]?.resolve()
  await expect.poll(() => runs).toBe(2)
  gates[1]?.resolve()
  await Promise.all(calls)
  expect(runs).toBe(2)
})

test('a call after the end, or after a failure, runs again', async () => {
  let runs = 0
  const work = rerun(async () => {
    runs++
    if (runs === 2) throw new Error('failed')
  })
  await work()
  await expect(work()).rejects.toThrow('failed')
  await work()
  expect(runs).toBe(3)
})
