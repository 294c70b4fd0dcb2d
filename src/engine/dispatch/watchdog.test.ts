import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'

const children: ChildProcess[] = []

/** A program of its own, because what it does cannot be stopped. */
function start(body: string, stderr: 'pipe' | number = 'pipe', stderrFile = '') {
  const program = `import { readFileSync } from 'node:fs'
    import { createHooks } from './src/index.ts'
    const hooks = createHooks({ watchdog: true })
    const call = { tool_name: 'Bash', tool_input: {} }
    const busy = (ms) => { for (const end = Date.now() + ms; Date.now() < end; ); }
    /** Hangs until the watchdog has named the hook, and long enough for it to name the hook again. */
    const hangUntilNamed = (hook) => {
      while (!readFileSync(process.env.STDERR_FILE, 'utf8').includes(hook)) busy(20)
      busy(1_000)
    }
    ${body}`
  const arguments_ = ['--input-type=module', '-e', program]
  const child = spawn(process.execPath, arguments_, {
    stdio: ['ignore', 'pipe', stderr],
    env: { ...process.env, STDERR_FILE: stderrFile },
  })
  children.push(child)
  return child
}

async function ended(body: string) {
  const folder = mkdtempSync(join(tmpdir(), 'hookhelm-watchdog-'))
  const file = join(folder, 'stderr')
  const handle = openSync(file, 'w')
  const child = start(body, handle, file)
  closeSync(handle)
  const [stdout, [code]] = await Promise.all([text(child.stdout as Readable), once(child, 'close')])
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  rmSync(folder, { recursive: true })
  return { code, stdout, lines }
}

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

describe('the watchdog', () => {
  test('4.7 #110 a hook that loops for ever is named on stderr after a second', async () => {
    const child = start(`hooks.on('pre_tool_use', { id: 'endless' }, () => { while (true); })
      hooks.dispatch('pre_tool_use', call)`)
    const [line] = await once(createInterface(child.stderr as Readable), 'line')
    expect(JSON.parse(line)).toEqual({
      level: 'error',
      name: 'engine.stalled',
      hook: 'endless',
      event: 'pre_tool_use',
      stalled_ms: 1_000,
    })
    expect(child.exitCode).toBe(null)
  })

  test('4.7 #110 each stall is told once, with the hook that hangs: not the one around it, not one that waits', async () => {
    const { code, lines } = await ended(`
      let go
      hooks.on('session_end', { id: 'waits' }, () => new Promise((resolve) => { go = resolve }))
      hooks.on('pre_tool_use', { id: 'outer' }, () => { hooks.dispatch('user_prompt_submit', { prompt: 'hi' }) })
      hooks.on('user_prompt_submit', { id: 'inner' }, () => hangUntilNamed('inner'))
      hooks.on('stop', { id: 'later' }, () => hangUntilNamed('later'))
      await hooks.dispatch('session_end', {})
      await hooks.dispatch('pre_tool_use', call)
      await hooks.dispatch('stop', {})
      go()`)
    expect(lines.map((line) => JSON.parse(line).hook)).toEqual(['inner', 'later'])
    expect(code).toBe(0)
  })

  test('lets the process end, and says nothing where nothing hangs', async () => {
    const { code, stdout, lines } = await ended(`
      hooks.on('pre_tool_use', async () => ({ kind: 'block', reason: 'no' }))
      console.log((await hooks.dispatch('pre_tool_use', call)).kind)`)
    expect({ code, stdout, lines }).toEqual({ code: 0, stdout: 'block\n', lines: [] })
  })
})
