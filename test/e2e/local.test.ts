import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Local, openLocal } from '../../src/app/local.ts'

let home = ''
let local: Local | undefined
const lines: string[] = []
const file = () => join(home, 'own', 'hooks.yaml')
const blocking = (reason: string) => `hooks:
  - id: rule
    event: pre_tool_use
    matcher: Bash
    handler_type: script
    config: { source: "function handle() { return { decision: 'block', reason: '${reason}' } }" }
`
const call = { tool_name: 'Bash', tool_input: {} }
const reasonNow = async () => (await local?.hooks.dispatch('pre_tool_use', call))?.reason

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'hookhelm-local-'))
  mkdirSync(join(home, 'own'))
  writeFileSync(file(), blocking('first'))
  lines.length = 0
  const env = { HOME: home, HOOKHELM_HOME: join(home, 'own'), PATH: process.env.PATH }
  local = await openLocal({ cwd: home, env, log: (name) => lines.push(name) })
})
afterEach(async () => {
  await local?.close()
  rmSync(home, { recursive: true, force: true })
})

test('OH-55 a changed file takes effect while the program runs', async () => {
  expect(await reasonNow()).toBe('first')
  writeFileSync(file(), blocking('second'))
  await expect.poll(() => reasonNow()).toBe('second')
})

test('4.2 #22 #23 #25 OH-59 a half-written or deleted file never disarms the hooks, and is told once', async () => {
  writeFileSync(file(), 'hooks:\n  - id: rule\n    event: pre_')
  await expect.poll(() => lines).toContain('reload.kept_previous')
  expect(await reasonNow()).toBe('first')
  expect(local?.files.status().find((status) => status.file === file())).toMatchObject({
    state: 'red',
    hooks: 1,
  })
  rmSync(file())
  await expect.poll(() => lines.filter((name) => name === 'reload.kept_previous')).toHaveLength(2)
  expect(await reasonNow()).toBe('first')
  writeFileSync(file(), blocking('third'))
  await expect.poll(() => reasonNow()).toBe('third')
})

test('4.2 #21 a file that is broken at the start is an error', async () => {
  await local?.close()
  writeFileSync(file(), 'hooks: [')
  const env = { HOME: home, HOOKHELM_HOME: join(home, 'own') }
  await expect(openLocal({ cwd: home, env })).rejects.toMatchObject({ code: 'config.syntax' })
})
