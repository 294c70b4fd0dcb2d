import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { alive, descendants, never, oddSeconds, openFiles } from '../../../test/safe/processes.fixture.ts'
import { HookError } from '../../engine/core/errors/error.ts'
import { badCommands } from '../../testing/bad-commands.ts'
import { killAllGroups, runningGroups } from './process-groups.ts'
import { type ProcessSpec, shellArgv } from './process-spec.ts'
import { createProcesses, type Processes } from './run-process.ts'

const { PATH = '' } = process.env

describe.each(['direct', 'helper'] as const)('a command started by way of: %s', (start) => {
  const processes = createProcesses({ start })
  const run = (command: string, more: Partial<ProcessSpec> = {}, signal = never) =>
    processes.run({ argv: shellArgv(command), env: { PATH }, ...more }, signal)
  afterAll(() => processes.close())

  test('gets its input, and answers output, exit code and how long it took', async () => {
    const result = await run('cat; echo oops >&2; exit 7', { stdin: '{"a":1}' })
    expect(result).toMatchObject({ exitCode: 7, stdout: '{"a":1}', stderr: 'oops\n', truncated: false })
    expect(result).toMatchObject({ signal: undefined, stdoutBytes: 7, stderrBytes: 5 })
    expect(result.durationMs).toBeGreaterThan(0)
  })

  test('needs no shell', async () => {
    const argv = ['printf', '%s|', '$HOME', 'a b', '`id`']
    expect(await run('', { argv })).toMatchObject({ stdout: '$HOME|a b|`id`|' })
  })

  test('4.4 #61 sees exactly the environment it is given', async () => {
    const { stdout } = await run('', { argv: ['/usr/bin/env'], env: { ONLY: 'this' } })
    expect(stdout).toBe('ONLY=this\n')
  })

  test('runs in the directory it is given, else in ours', async () => {
    const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'hookhelm-cwd-')))
    expect(await run('pwd', { cwd })).toMatchObject({ stdout: `${cwd}\n` })
    expect(await run('pwd')).toMatchObject({ stdout: `${process.cwd()}\n` })
    rmSync(cwd, { recursive: true })
  })

  test.each([
    ['that does not exist', ['/nowhere/at-all']],
    ['that may not be executed', ['/etc/passwd']],
    ['with more arguments than the system takes', ['true', 'x'.repeat(3_000_000)]],
    ['with a NUL in an argument', ['true', 'a\0b']],
    ['that is empty', ['']],
  ])('4.4 #50 a program %s is refused as process.start', async (_, argv) => {
    await expect(run('', { argv })).rejects.toMatchObject({ code: 'process.start' })
    expect(await run('echo still here')).toMatchObject({ exitCode: 0 })
  })

  test('4.4 #51 ended by a signal, it says which', async () => {
    expect(await run(badCommands.killsItself)).toMatchObject({ signal: 'SIGKILL', exitCode: undefined })
    expect(await run(badCommands.crashes)).toMatchObject({ signal: 'SIGSEGV', exitCode: undefined })
  })

  test('4.4 #52 one that sleeps for ever is asked to end when its time is over', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'hookhelm-term-'))
    const marker = oddSeconds()
    const command = `trap 'touch ${dir}/asked; exit 5' TERM; touch ${dir}/ready; sleep ${marker} & wait`
    const leave = new AbortController()
    const running = run(command, {}, leave.signal)
    await expect.poll(() => existsSync(join(dir, 'ready'))).toBe(true)
    leave.abort()
    await expect(running).rejects.toMatchObject({ code: 'process.timeout' })
    expect(existsSync(join(dir, 'asked'))).toBe(true)
    await expect.poll(() => alive(`sleep ${marker}`)).toEqual([])
    rmSync(dir, { recursive: true })
  })

  test('4.4 #52 one that ignores the request is killed half a second later', async () => {
    const marker = oddSeconds()
    const begun = performance.now()
    const command = badCommands.ignoresTerm.replace('3600', String(marker))
    await expect(run(command, {}, AbortSignal.timeout(100))).rejects.toMatchObject({
      code: 'process.timeout',
    })
    expect(performance.now() - begun).toBeGreaterThan(590)
    await expect.poll(() => alive(`sleep ${marker}`)).toEqual([])
  })

  test.each(['waitsForGrandchild', 'stubbornGrandchild'] as const)(
    '4.4 #53 GC-50 M1 no grandchild survives a timeout: %s',
    async (name) => {
      const marker = oddSeconds()
      const command = badCommands[name].replaceAll('3600', String(marker))
      await expect(run(command, {}, AbortSignal.timeout(150))).rejects.toMatchObject({
        code: 'process.timeout',
      })
      await expect.poll(() => alive(`sleep ${marker}`)).toEqual([])
    },
  )

  test('4.4 #53 settles on exit although a grandchild holds stdout, and leaves no survivor', async () => {
    const marker = oddSeconds()
    const result = await run(badCommands.leavesPipeHolder.replace('3600', String(marker)))
    expect(result).toMatchObject({ exitCode: 0, stdout: '{}\n' })
    await expect.poll(() => alive(`sleep ${marker}`)).toEqual([])
  })

  test('M2 settles although one that left the group holds stdout', async () => {
    const marker = oddSeconds()
    const result = await run(`setsid sleep ${marker} & echo {}`)
    expect(result).toMatchObject({ exitCode: 0, stdout: '{}\n' })
    for (const pid of alive(`sleep ${marker}`)) process.kill(Number(pid), 'SIGKILL')
  })

  test('what comes through a pipe after the exit is still read', async () => {
    const late = '(sleep 0.05; echo late) & echo early'
    expect(await run(late)).toMatchObject({ stdout: 'early\nlate\n' })
  })

  test('one that let go of the pipes is left alone', async () => {
    const marker = oddSeconds()
    await run(`sleep ${marker} >/dev/null 2>&1 </dev/null &`)
    const [pid] = alive(`sleep ${marker}`)
    expect(pid).toBeDefined()
    process.kill(Number(pid), 'SIGKILL')
  })

  test.each(['floodsStdout', 'floodsStderr'] as const)(
    '4.4 #55 %s: killed at 1 MiB, the first 4 KB are kept',
    async (name) => {
      const result = await run(badCommands[name])
      expect(result).toMatchObject({ truncated: true, signal: 'SIGKILL' })
      expect(result.stdout.length + result.stderr.length).toBe(4_096)
      expect(result.stdoutBytes + result.stderrBytes).toBeLessThan(2_000_000)
    },
  )

  test('exactly as much as allowed is no overrun', async () => {
    const exactly = await run('printf 12345678', { maxOutputBytes: 8 })
    expect(exactly).toMatchObject({ truncated: false, stdout: '12345678' })
    expect(await run('printf 123456789', { maxOutputBytes: 8 })).toMatchObject({ truncated: true })
  })

  test('4.4 #56 one that never reads 10 MB of stdin ends with its own exit code', async () => {
    const stdin = Buffer.alloc(10_000_000, 'x')
    expect(await run(badCommands.deaf, { stdin })).toMatchObject({ exitCode: 0 })
    expect(await run('wc -c', { stdin })).toMatchObject({ stdout: '10000000\n' })
  })

  test('4.4 #58 bytes that are no UTF-8 are replaced', async () => {
    const { stdout, stdoutBytes } = await run(badCommands.speaksBinary)
    expect(stdout.startsWith('\uFFFD\uFFFD')).toBe(true)
    expect(stdoutBytes).toBe(16)
  })

  test('an aborted signal starts nothing', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'hookhelm-abort-'))
    const running = run(`touch ${dir}/started`, {}, AbortSignal.abort())
    await expect(running).rejects.toMatchObject({ code: 'process.timeout' })
    expect(await run(`ls ${dir}`)).toMatchObject({ stdout: '' })
    rmSync(dir, { recursive: true })
  })

  test('4.4 #64 killAllGroups ends what runs, and who waits learns it', async () => {
    const marker = oddSeconds()
    const running = run(`sleep ${marker} & sleep ${marker}`)
    await expect.poll(() => alive(`sleep ${marker}`).length).toBeGreaterThanOrEqual(2)
    await expect.poll(runningGroups).toHaveLength(1)
    killAllGroups()
    expect(await running).toMatchObject({ signal: 'SIGKILL' })
    await expect.poll(() => alive(`sleep ${marker}`)).toEqual([])
    expect(runningGroups()).toEqual([])
  })

  test('4.4 #60 1 000 at once: never more than 8 children, in order, and nothing is left behind', async () => {
    await expectFlat(processes, async () => {
      const order: number[] = []
      let most = 0
      const all = Array.from({ length: 1_000 }, (_, index) =>
        run('', { argv: ['true'] }).then(() => {
          order.push(index)
          most = Math.max(most, runningGroups().length)
        }),
      )
      await Promise.all(all)
      expect(most).toBeLessThanOrEqual(8)
      // First in, first started; eight may overtake one another.
      for (const [place, index] of order.entries()) expect(Math.abs(place - index)).toBeLessThan(64)
    })
  })

  test('4.4 #60 the wait for a turn ends with the patience of the caller', async () => {
    const narrow = createProcesses({ start, concurrency: 1 })
    const order = { argv: shellArgv('sleep 60'), env: { PATH } }
    const leave = new AbortController()
    const first = narrow.run(order, leave.signal)
    const second = narrow.run(order, AbortSignal.timeout(50))
    await expect(second).rejects.toMatchObject({
      code: 'process.timeout',
      message: expect.stringContaining('waiting to start'),
    })
    expect(narrow.running).toBe(1)
    leave.abort(new HookError('engine.aborted', 'enough'))
    await expect(first).rejects.toMatchObject({ code: 'engine.aborted' })
    expect(narrow.running).toBe(0)
    narrow.close()
  })

  test('200 runs that fail in every way leak no file and no process', async () => {
    await expectFlat(processes, async () => {
      for (let i = 0; i < 40; i++) {
        await Promise.allSettled([
          run('echo fine'),
          run('', { argv: ['/nowhere/at-all'] }),
          run('sleep 60', {}, AbortSignal.timeout(5)),
          run(badCommands.killsItself, { stdin: 'x'.repeat(100_000) }),
          run('printf 123456789', { maxOutputBytes: 4 }),
        ])
      }
    })
  })
})

async function expectFlat(processes: Processes, work: () => Promise<void>): Promise<void> {
  await processes.run({ argv: ['true'], env: { PATH } }, never)
  const helper = processes.helperPid
  const measure = () => ({
    files: openFiles(),
    helperFiles: helper === undefined ? 0 : openFiles(helper),
    children: descendants(process.pid).length,
  })
  const before = measure()
  await work()
  await vi.waitFor(() => {
    const after = measure()
    expect(after.files).toBeLessThanOrEqual(before.files + 1)
    expect(after.helperFiles).toBeLessThanOrEqual(before.helperFiles + 1)
    expect(after.children).toBeLessThanOrEqual(before.children)
  }, 60_000)
}
