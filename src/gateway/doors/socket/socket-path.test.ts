import { spawnSync } from 'node:child_process'
import { chmodSync, lstatSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openLines, scratch, startSocket, uid } from '../../../../test/gateway/socket.fixture.ts'
import { prepareSocketDirectory, socketPath } from './socket-path.ts'

const refused = expect.objectContaining({ code: 'gateway.socket' })

test('the socket lies in the data directory; where that is too long, near it in a place of the user', () => {
  const places = {
    home: '/home/me/.local/share/hookhelm',
    runtimeDir: '/run/user/1000',
    tempDir: '/tmp',
    uid: 1000,
  }
  expect(socketPath(places)).toBe('/home/me/.local/share/hookhelm/run/gateway.sock')
  const deep = { ...places, home: `/home/${'x'.repeat(100)}` }
  expect(socketPath(deep)).toMatch(/^\/run\/user\/1000\/hookhelm\/[0-9a-f]{16}\.sock$/)
  expect(socketPath({ ...deep, runtimeDir: undefined })).toMatch(/^\/tmp\/hookhelm-1000\/[0-9a-f]{16}\.sock$/)
  expect(socketPath({ ...deep, home: `${deep.home}y` })).not.toBe(socketPath(deep))
  expect(() => socketPath({ ...deep, runtimeDir: deep.home, tempDir: deep.home })).toThrow(refused)
})

test('directory and socket are for the user alone', async () => {
  const { path } = await startSocket()
  expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700)
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('a directory that others may write to, a link, a file, and a parent where others may rename are refused', () => {
  const folder = scratch()
  const at = (name: string) => join(folder, name, 'gateway.sock')
  mkdirSync(join(folder, 'open'))
  chmodSync(join(folder, 'open'), 0o775)
  mkdirSync(join(folder, 'mine'), { mode: 0o700 })
  symlinkSync(join(folder, 'mine'), join(folder, 'link'))
  writeFileSync(join(folder, 'file'), '')
  mkdirSync(join(folder, 'shared'))
  chmodSync(join(folder, 'shared'), 0o777)
  for (const name of ['open', 'link', 'file', 'shared/sub']) {
    expect(() => prepareSocketDirectory(at(name), uid)).toThrow(refused)
  }
  chmodSync(join(folder, 'shared'), 0o1777)
  prepareSocketDirectory(at('shared/sub'), uid)
  expect(() => prepareSocketDirectory(at('mine'), uid + 1)).toThrow(refused)
})

/** Leaves a socket behind as a killed process does. */
function leaveStale(path: string): void {
  mkdirSync(join(path, '..'), { mode: 0o700, recursive: true })
  const program = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`
  spawnSync(process.execPath, ['-e', program])
}

test('a stale socket is removed by whoever holds the lock, and by nobody else', async () => {
  const path = join(scratch(), 'run', 'gateway.sock')
  leaveStale(path)
  expect(lstatSync(path).isSocket()).toBe(true)
  await expect(startSocket({ path, holdsLock: false })).rejects.toThrow(refused)
  expect(lstatSync(path).isSocket()).toBe(true)
  await startSocket({ path, holdsLock: true })
  const client = openLines(path)
  client.send({ id: 1, event: 'no_such_event', payload: {} })
  expect(await client.next()).toMatchObject({ id: 1 })
})

test('a socket that somebody answers on stays theirs, and a file that is no socket stays', async () => {
  const { path } = await startSocket()
  await expect(startSocket({ path })).rejects.toThrow(expect.objectContaining({ code: 'gateway.running' }))
  const other = join(scratch(), 'run', 'gateway.sock')
  mkdirSync(join(other, '..'), { mode: 0o700 })
  writeFileSync(other, 'mine')
  await expect(startSocket({ path: other })).rejects.toThrow(refused)
  expect(lstatSync(other).isFile()).toBe(true)
})
