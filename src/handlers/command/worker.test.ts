import { describe, expect, test, vi } from 'vitest'
import { commandHook } from '../../../test/handlers/command-hook.fixture.ts'
import { namedWorker, orderedWorker } from '../../../test/handlers/worker.fixture.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { Worker } from './worker.ts'

type Scene = ReturnType<typeof commandHook>

const act = ({ ask }: Scene, name: string, more: object = {}) => ask({ tool_input: { act: name, ...more } })
const pidOf = async (scene: Scene) => Number((await act(scene, 'say')).reason?.split(' ')[0])

describe.each([
  ['names its events', namedWorker],
  ['answers in order', orderedWorker],
])('a worker that %s', (_, exec) => {
  const hook = (options = {}) => commandHook({ exec, worker: true }, { timeout_ms: 60_000, ...options })

  test('stays: one process answers many events', async () => {
    const scene = hook()
    const pid = await pidOf(scene)
    expect(pid).toBeGreaterThan(0)
    const many = await Promise.all(Array.from({ length: 200 }, (_, n) => act(scene, 'say', { n })))
    for (const [n, decision] of many.entries())
      expect(decision).toMatchObject({ kind: 'block', reason: `${pid} ${n}` })
  })

  test('answers with a line of half a megabyte', async () => {
    expect(await act(hook(), 'large')).toMatchObject({ kind: 'block' })
  })

  test('that dies fails the events it had, and the next one starts it anew', async () => {
    const scene = hook()
    const pid = await pidOf(scene)
    const dying = await act(scene, 'die')
    expect(dying).toMatchObject({ kind: 'block', code: 'process.exit' })
    expect(dying.reason).toContain('exited with 3: out of luck')
    const next = await pidOf(scene)
    expect(next).not.toBe(pid)
    expect(await act(scene, 'crash')).toMatchObject({ code: 'process.signal' })
    expect(await pidOf(scene)).not.toBe(next)
  })

  test('whose last answer comes with its end has answered', async () => {
    expect(await act(hook(), 'last')).toMatchObject({
      kind: 'block',
      reason: expect.stringContaining('last'),
    })
  })

  test.each(['garbage', 'list', 'twice'])(
    'that writes %s breaks the agreement and is replaced',
    async (name) => {
      const scene = hook()
      const pid = await pidOf(scene)
      expect(await act(scene, name)).toMatchObject({ kind: 'block', code: 'process.worker' })
      expect(await pidOf(scene)).not.toBe(pid)
    },
  )

  test('that writes a line without end is killed', async () => {
    expect(await act(hook(), 'huge')).toMatchObject({ code: 'process.output_limit' })
  })

  test('that hangs is killed at the deadline, and the next event gets a new one', async () => {
    const scene = hook({ timeout_ms: 3_000 })
    const pid = await pidOf(scene)
    expect(await act(scene, 'hang')).toMatchObject({ kind: 'block', code: 'process.timeout' })
    await expect.poll(() => isAlive(pid)).toBe(false)
    expect(await pidOf(scene)).not.toBe(pid)
  })

  test('is gone after dispose', async () => {
    const scene = hook()
    const pid = await pidOf(scene)
    await scene.dispose()
    expect(isAlive(pid)).toBe(false)
  })
})

describe('answers and events', () => {
  test('are matched by name, in whatever order they come', async () => {
    const scene = commandHook({ exec: namedWorker, worker: true }, { timeout_ms: 60_000 })
    const held = [1, 2, 3].map((n) => act(scene, 'hold', { n }))
    const released = act(scene, 'release', { n: 4 })
    for (const [index, decision] of (await Promise.all([...held, released])).entries())
      expect(decision.reason?.split(' ')[1]).toBe(String(index + 1))
  })

  test('a line that answers nobody ends a worker that answers in order', async () => {
    const scene = commandHook({ exec: orderedWorker, worker: true }, { timeout_ms: 60_000 })
    const pid = await pidOf(scene)
    expect(await act(scene, 'stray')).toMatchObject({ kind: 'block' })
    await expect.poll(() => isAlive(pid)).toBe(false)
  })

  test('one without a name among named ones ends the worker; a name nobody knows is ignored', async () => {
    const scene = commandHook({ exec: namedWorker, worker: true }, { timeout_ms: 60_000 })
    const pid = await pidOf(scene)
    expect(await act(scene, 'unknown')).toMatchObject({ kind: 'block' })
    expect(await pidOf(scene)).toBe(pid)
    await act(scene, 'stray')
    await expect.poll(() => isAlive(pid)).toBe(false)
  })

  test('an event left unanswered does not end a worker that answers others', async () => {
    const scene = commandHook({ exec: namedWorker, worker: true }, { timeout_ms: 3_000 })
    const pid = await pidOf(scene)
    const silent = act(scene, 'silent')
    await act(scene, 'say')
    expect(await silent).toMatchObject({ code: 'process.timeout' })
    expect(await pidOf(scene)).toBe(pid)
  })
})

describe('a worker', () => {
  test('that cannot be started is process.start', async () => {
    expect(await act(commandHook({ exec: ['/nowhere'], worker: true }), 'say')).toMatchObject({
      code: 'process.start',
    })
  })

  test('that keeps dying is started ever more slowly', async () => {
    const scene = commandHook({ command: 'read line; exit 1', worker: true }, { timeout_ms: 60_000 })
    const begun = performance.now()
    for (let i = 0; i < 5; i++) expect(await act(scene, 'x')).toMatchObject({ code: 'process.exit' })
    // 0, 0, 100, 200, 400 ms
    expect(performance.now() - begun).toBeGreaterThan(650)
  })

  test('in the shell, in ten lines', async () => {
    const command = `while read -r line; do case "$line" in *rm*) echo '{"decision":"block","reason":"no rm"}';; *) echo '{}';; esac; done`
    const { ask } = commandHook({ command, worker: true })
    expect(await ask({ tool_input: { command: 'ls' } })).toMatchObject({ kind: 'allow' })
    expect(await ask({ tool_input: { command: 'rm x' } })).toMatchObject({ kind: 'block', reason: 'no rm' })
  })

  test('sees only the environment it may see', async () => {
    vi.stubEnv('CANARY_SECRET', 'do-not-show')
    const command = `read -r line; echo "{\\"decision\\":\\"block\\",\\"reason\\":\\"$HOOKHELM_WORKER$CANARY_SECRET\\"}"`
    expect(await commandHook({ command, worker: true }).ask()).toMatchObject({ reason: '1' })
    vi.unstubAllEnvs()
  })

  test('that nobody asks is let go, and comes back when asked', async () => {
    const clock = fakeClock()
    const worker = new Worker(
      { argv: namedWorker, env: { PATH: process.env.PATH ?? '' } },
      { clock, idleMs: 1_000 },
    )
    const ask = () => worker.ask({ tool_input: { n: 'x' } }, new AbortController().signal)
    const pid = async () => Number(String((await ask()).reason).split(' ')[0])
    const first = await pid()
    await clock.advance(1_000)
    expect(isAlive(first)).toBe(true)
    await clock.advance(1_000)
    await expect.poll(() => isAlive(first)).toBe(false)
    expect(await pid()).not.toBe(first)
    await worker.dispose()
  })

  test('has no more than so many events at once; the others wait, and no longer than they may', async () => {
    const options = { workers: { maxInFlight: 2 } }
    const scene = commandHook({ exec: namedWorker, worker: true }, { timeout_ms: 500 }, options)
    await pidOf(scene)
    const [one, two, three] = await Promise.all(['hold', 'hold', 'say'].map((name) => act(scene, name)))
    expect([one?.code, two?.code, three?.code]).toEqual(Array(3).fill('process.timeout'))
  })
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
