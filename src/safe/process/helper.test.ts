import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { alive, descendants, never, oddSeconds } from '../../../test/safe/processes.fixture.ts'
import { runningGroups } from './process-groups.ts'
import { shellArgv } from './process-spec.ts'
import { createProcesses, type Processes } from './run-process.ts'

const { PATH = '' } = process.env
const made: Processes[] = []
const make = (start: 'auto' | 'helper') => {
  const processes = createProcesses({ start })
  made.push(processes)
  return processes
}
const run = (processes: Processes, command: string) =>
  processes.run({ argv: shellArgv(command), env: { PATH } }, never)
afterEach(() => {
  for (const processes of made.splice(0)) processes.close()
})

describe('the helper', () => {
  test('sees nothing of our environment', async () => {
    vi.stubEnv('CANARY_SECRET', 'do-not-show')
    const processes = make('helper')
    await run(processes, 'true')
    expect(readFileSync(`/proc/${processes.helperPid}/environ`, 'utf8')).toBe('')
    vi.unstubAllEnvs()
  })

  test('that is killed fails what it was running, leaves nobody behind, and is replaced', async () => {
    const processes = make('helper')
    const marker = oddSeconds()
    const running = run(processes, `sleep ${marker} & wait`)
    await expect.poll(() => alive(`sleep ${marker}`)).not.toEqual([])
    await expect.poll(() => runningGroups()).not.toEqual([])
    const { helperPid } = processes
    process.kill(Number(helperPid), 'SIGKILL')
    await expect(running).rejects.toMatchObject({ code: 'process.start' })
    await expect.poll(() => alive(`sleep ${marker}`)).toEqual([])
    expect(await run(processes, 'echo again')).toMatchObject({ stdout: 'again\n' })
    expect(processes.helperPid).not.toBe(helperPid)
  })

  test('does not leave on a signal that was meant for the whole family', async () => {
    const processes = make('helper')
    await run(processes, 'true')
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.kill(Number(processes.helperPid), signal)
    expect(await run(processes, 'echo here')).toMatchObject({ stdout: 'here\n' })
  })

  test('leaves with what it runs when we let it go', async () => {
    const processes = make('helper')
    const marker = oddSeconds()
    const running = run(processes, `sleep ${marker}`)
    await expect.poll(() => alive(`sleep ${marker}`)).not.toEqual([])
    processes.close()
    await expect(running).rejects.toMatchObject({ code: 'process.start' })
    await expect.poll(() => alive(`sleep ${marker}`)).toEqual([])
  })
})

test('left to itself, the change from one way to the other loses nothing', async () => {
  const processes = make('auto')
  processes.warm()
  const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => run(processes, `echo ${n}`)))
  expect(answers.map(({ stdout }) => stdout)).toEqual(Array.from({ length: 50 }, (_, n) => `${n}\n`))
  expect(processes.helperPid).toBeDefined()
})

test('left to itself, it does without a helper that never comes up', async () => {
  const { execPath } = process
  process.execPath = '/bin/false'
  const processes = make('auto')
  try {
    for (let n = 0; n < 12; n++) {
      processes.warm()
      expect(await run(processes, `echo ${n}`)).toMatchObject({ stdout: `${n}\n` })
    }
  } finally {
    process.execPath = execPath
  }
  processes.warm()
  expect(processes.helperPid).toBeUndefined()
})

test('a helper that never comes up is told to whoever waits for it', async () => {
  const program = `
    import { createProcesses } from ${JSON.stringify(new URL('./run-process.ts', import.meta.url).href)}
    process.execPath = '/bin/false'
    const { run } = createProcesses({ start: 'helper' })
    await run({ argv: ['true'], env: {} }, new AbortController().signal).catch(({ code }) => console.log(code))
  `
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  expect(String(await once(child.stdout, 'data'))).toBe('process.start\n')
})

test('left to itself, a small program that starts a command or two brings up no helper', async () => {
  const program = `
    import { processes, runProcess } from ${JSON.stringify(new URL('./run-process.ts', import.meta.url).href)}
    const run = () => runProcess({ argv: ['true'], env: { PATH: process.env.PATH } }, new AbortController().signal)
    const seen = []
    for (let i = 0; i < 3; i++) {
      await run()
      seen.push(processes.helperPid === undefined ? 'direct' : 'helper')
    }
    console.log(seen.join())
  `
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  expect(String(await once(child.stdout, 'data'))).toBe('direct,direct,helper\n')
})

describe.each(['direct', 'helper'])('our own end, with children started by way of: %s', (start) => {
  const program = `
    import { createProcesses } from ${JSON.stringify(new URL('./run-process.ts', import.meta.url).href)}
    const processes = createProcesses({ start: ${JSON.stringify(start)} })
    const [seconds, then] = process.argv.slice(1)
    const run = (argv) => processes.run({ argv, env: { PATH: process.env.PATH } }, new AbortController().signal)
    await run(['true'])
    if (then === 'idle') console.log('idle')
    else {
      run(['sh', '-c', 'sleep ' + seconds + ' & wait']).catch(() => {})
      process.on('SIGTERM', () => process.exit(0))
      console.log('running')
    }
  `
  const ours = async (seconds: number, then: string) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', program, String(seconds), then], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    return child
  }

  test('4.4 #64 SIGTERM: the children are gone', async () => {
    const marker = oddSeconds()
    const child = await ours(marker, 'run')
    await expect.poll(() => alive(`sleep ${marker}`)).not.toEqual([])
    child.kill('SIGTERM')
    await once(child, 'exit')
    await expect.poll(() => alive(`sleep ${marker}`)).toEqual([])
  })

  // Who is started directly has nobody left to end it.
  if (start === 'helper') {
    test('4.4 #64 even SIGKILL leaves no child', async () => {
      const marker = oddSeconds()
      const child = await ours(marker, 'run')
      await expect.poll(() => alive(`sleep ${marker}`)).not.toEqual([])
      const family = descendants(Number(child.pid))
      child.kill('SIGKILL')
      await vi.waitFor(() => {
        expect(alive(`sleep ${marker}`)).toEqual([])
        expect(family.filter((pid) => alive('helper-main').includes(pid))).toEqual([])
      }, 60_000)
    })
  }

  test('a program that has nothing more to do may end', async () => {
    const child = await ours(1, 'idle')
    const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode]
    expect(code).toBe(0)
  })
})
