import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'

const main = join(import.meta.dirname, '../../src/cli/main.ts')

test('hookhelm up executes runs by itself, and still ends at SIGTERM', async () => {
  const home = mkdtempSync(join(tmpdir(), 'hookhelm-up-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const env = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    HOME: home,
    HOOKHELM_HOME: home,
  }
  const up = spawn(process.execPath, [main, 'up', '--port', '0', '--json', '--quiet'], { env })
  onTestFinished(() => void up.kill('SIGKILL'))
  let printed = ''
  for await (const chunk of up.stdout) {
    printed += chunk
    if (printed.trimEnd().endsWith('}')) break
  }
  const { url, tokenFile } = JSON.parse(printed)
  const remote = { ...env, HOOKHELM_URL: url, HOOKHELM_TOKEN: readFileSync(tokenFile, 'utf8').trim() }
  const hookhelm = async (...args: readonly string[]) => {
    const child = spawn(process.execPath, [main, ...args, '--json'], { env: remote })
    return JSON.parse(await text(child.stdout))
  }
  const echo = { name: 'echo', type: 'procedural', executor: { command: ['cat'] } }
  await hookhelm('blueprints', 'save', '--data', JSON.stringify(echo))
  const { session_id } = await hookhelm('runs', 'start', '--agent-name', 'echo', '--parameters', '{"a":1}')
  let result = await hookhelm('run-sessions', 'result', session_id)
  while (result.status !== 'finished') result = await hookhelm('run-sessions', 'result', session_id)
  expect(result.result_data).toEqual({ a: 1 })
  up.kill('SIGTERM')
  expect(await once(up, 'exit')).toEqual([0, null])
}, 120_000)
