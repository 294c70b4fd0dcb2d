import { existsSync, lstatSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openLines, startSocket } from '../../../../test/gateway/socket.fixture.ts'
import { fakeClock } from '../../../testing/fake-clock.ts'

const WITHIN = { timeout: 60_000 }

async function startWatched() {
  const clock = fakeClock()
  const started = await startSocket({ clock })
  const untilRestored = () =>
    vi.waitFor(() => {
      clock.advance(1_000)
      expect(existsSync(started.path)).toBe(true)
    }, WITHIN)
  return { ...started, clock, untilRestored }
}

const ping = { id: 1, event: 'notification', payload: {} }

test('a deleted socket file comes back, and open connections stay', async () => {
  const { path, untilRestored } = await startWatched()
  const before = openLines(path)
  before.send(ping)
  expect(await before.next()).toMatchObject({ id: 1 })
  unlinkSync(path)
  await untilRestored()
  expect(lstatSync(path).mode & 0o777).toBe(0o600)
  const after = openLines(path)
  for (const lines of [after, before]) {
    lines.send({ ...ping, id: 2 })
    expect(await lines.next()).toMatchObject({ id: 2 })
  }
})

test('a deleted folder of the socket comes back too, closed to others', async () => {
  const { path, untilRestored } = await startWatched()
  rmSync(dirname(path), { recursive: true })
  await untilRestored()
  expect(lstatSync(dirname(path)).mode & 0o777).toBe(0o700)
})

test('a file or socket of another process in its place is left alone', async () => {
  const { path, clock } = await startWatched()
  unlinkSync(path)
  writeFileSync(path, 'of another')
  clock.advance(5_000)
  expect(readFileSync(path, 'utf8')).toBe('of another')
  unlinkSync(path)
  const connected: unknown[] = []
  const other = createServer((socket) => connected.push(socket.destroy()))
  await new Promise<void>((resolve) => other.listen({ path }, resolve))
  onTestFinished(() => void other.close())
  const { ino } = lstatSync(path)
  clock.advance(5_000)
  expect(lstatSync(path).ino).toBe(ino)
  expect(connected).toEqual([])
})

test('a closed gateway does not listen again', async () => {
  const { path, clock, server } = await startWatched()
  await server.close(0)
  clock.advance(5_000)
  expect(existsSync(path)).toBe(false)
})
