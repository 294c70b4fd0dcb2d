import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gateway, install, type Place, place } from './plugins.fixture.ts'

const CALL = "hooks['tool.execute.before']({ tool: 'bash', sessionID: 's', callID: 'c' }, { args: {} })"
const IDLE = "hooks.event({ event: { type: 'session.idle', properties: { sessionID: 's' } } })"

/** A process of its own that loads the plugin and does this. */
function host(
  where: Place,
  script: string,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const file = join(where.folder, 'host.mjs')
  writeFileSync(
    file,
    `import { Hookhelm } from ${JSON.stringify(install(where))}\nconst hooks = await Hookhelm({ directory: '/' })\n${script}\n`,
  )
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'pipe'] })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (chunk) => {
      stdout += chunk
    })
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
}

test('the host ends when it is done, although the connection is open', async () => {
  const where = place('opencode')
  await gateway(where, (_, wire) => wire.reply({}))
  expect(await host(where, `await ${CALL}; console.log('done')`)).toEqual({
    code: 0,
    stdout: 'done\n',
    stderr: '',
  })
})

test('a question keeps the host alive until it is answered', async () => {
  const where = place('opencode')
  await gateway(where, (_, wire) => setImmediate(() => wire.reply({ block: 'no' })))
  const { code, stdout } = await host(where, `await ${CALL}.catch(({ message }) => console.log(message))`)
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'no\n' })
})

test('nothing is written to the terminal while nobody answers', async () => {
  const where = place('opencode')
  const script = `for (let n = 0; n < 3; n++) await ${CALL}.catch(() => {}); await ${IDLE}`
  expect(await host(where, script)).toEqual({ code: 0, stdout: '', stderr: '' })
  expect(where.spooled()).toHaveLength(4)
})

test('fail-open says so, in one line however often it happens', async () => {
  const where = place('opencode', { failOpen: true })
  const { code, stderr } = await host(where, `for (let n = 0; n < 3; n++) await ${CALL}`)
  expect(code).toBe(0)
  expect(stderr).toMatch(/^hookhelm: tool\.execute\.before passes unchecked[^\n]+\n$/)
  expect(where.spooled()).toHaveLength(3)
})

test('what was not answered when the host ends is kept', async () => {
  const where = place('opencode')
  await gateway(where, () => {})
  const script = `${IDLE}; ${CALL}.catch(() => {}); setImmediate(() => process.exit(3))`
  expect(await host(where, script)).toMatchObject({ code: 3, stderr: '' })
  const kept = where.spooled().toSorted((a, b) => a.event.localeCompare(b.event))
  expect(kept).toMatchObject([
    { event: 'session.idle', why: 'the agent ended before the gateway answered' },
    { event: 'tool.execute.before', blocked: true },
  ])
})
