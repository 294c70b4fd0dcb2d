import { spawn } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { clients, nodeClient, run } from './clients.fixture.ts'
import { args, ownFolder, replyLine, saying } from './fake-gateway.fixture.ts'

const NOBODY = 65_534
const isRoot = process.geteuid?.() === 0
if (!isRoot) process.stderr.write('NOT ROOT: WHO ANSWERS AT THE SOCKET IS NOT TESTED\n')

/** Allows everything, and tells us what it is sent. */
const server = `
  require('node:net').createServer((connection) => {
    connection.on('error', () => {}).on('data', (data) => process.stdout.write('heard ' + data))
    connection.write(${JSON.stringify(replyLine())})
  }).listen(process.argv[1], () => process.stdout.write('listening'))
`

describe.runIf(isRoot).each(clients)('$name: the gateway of another user', (client) => {
  test('is told nothing and not believed', async () => {
    const folder = ownFolder()
    chownSync(folder, NOBODY, NOBODY)
    const socket = join(folder, 'gateway.sock')
    const child = spawn(process.execPath, ['-e', server, socket], {
      uid: NOBODY,
      gid: NOBODY,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill())
    let said = ''
    await new Promise<void>((resolve) =>
      child.stdout.on('data', (chunk) => {
        said += chunk
        resolve()
      }),
    )
    expect(await run(client, args(socket))).toEqual({
      code: 2,
      signal: null,
      stdout: '',
      stderr: `hookhelm: another user may be answering at ${socket}, who is not trusted\n`,
    })
    expect(said).toBe('listening')
  })
})

describe('node: who cannot ask who listens looks at the folder', () => {
  test('which nobody else may write to', async () => {
    const { socket } = await saying(replyLine())
    expect((await run(nodeClient, args(socket))).code).toBe(0)
    for (const mode of [0o770, 0o707, 0o1777]) {
      chmodSync(join(socket, '..'), mode)
      expect(await run(nodeClient, args(socket))).toMatchObject({
        code: 2,
        stdout: '',
        stderr: `hookhelm: another user may be answering at ${socket}, who is not trusted\n`,
      })
    }
  })

  test('and which is no link to one', async () => {
    const { socket } = await saying(replyLine())
    const folder = ownFolder()
    mkdirSync(join(folder, 'a'))
    symlinkSync(join(socket, '..'), join(folder, 'link'))
    expect((await run(nodeClient, args(join(folder, 'link', 'gateway.sock')))).code).toBe(2)
  })
})
