/** What a command hook costs: against the bare start of the same command, from a small and from a large process. */
import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { createCommandHandler } from '../src/handlers/command/command.ts'
import { createHooks } from '../src/index.ts'
import { createProcesses, type Processes } from '../src/safe/process/run-process.ts'
import { shell } from '../src/safe/process/spec.ts'
import { type Figure, faster, ratio } from './figure.ts'

const COMMAND = 'cat >/dev/null; echo {}'
const NODE_SCRIPT = 'process.stdin.resume().on("end", () => console.log("{}"))'
const WORKER = `
  require('node:readline').createInterface({ input: process.stdin })
    .on('line', (line) => console.log(JSON.stringify({ id: JSON.parse(line).id })))
`
const LARGE_MB = 400
const RUNS = 50
const ROUNDS = 10

/** What one process can measure; nanoseconds. */
const subjects = ['hook', 'start', 'direct', 'blocked', 'worker', 'nodeScript'] as const
type Subject = (typeof subjects)[number]
type Ask = (subject: Subject) => Promise<number>

export async function commandFigures(): Promise<Figure[]> {
  const small = measurer(0)
  const large = measurer(LARGE_MB)
  const bare = bareStart()
  // Taken in turns, so that noise hits all alike; the first round warms up.
  const rounds: Record<string, number[]> = {}
  const take = (name: string, value: number) => {
    rounds[name] = [...(rounds[name] ?? []), value]
  }
  for (let round = 0; round <= ROUNDS; round++) {
    if (round === 1) for (const list of Object.values(rounds)) list.length = 0
    take('bare', bare.run())
    for (const subject of subjects) take(subject, await small.ask(subject))
    for (const subject of ['hook', 'start', 'direct', 'blocked'] as const)
      take(`large ${subject}`, await large.ask(subject))
  }
  for (const { close } of [small, large, bare]) close()
  const best = (name: string) => Math.min(...(rounds[name] ?? []))
  const big = `from a ${LARGE_MB} MB process`
  return [
    ratio('command hook: sh -c, against a bare posix_spawn', best('hook'), best('bare'), 2),
    ratio(`command hook: ${big}, against a small one`, best('large hook'), best('hook'), 1.3),
    faster(`starting /bin/true: ${big}, against child_process`, best('large start'), best('large direct'), 5),
    atMost('command hook: event loop blocked by a start, p99', best('blocked'), 0.5),
    atMost(`command hook: the same ${big}`, best('large blocked'), 0.5),
    atMost('warm worker: p50', best('worker'), 0.3),
    faster('warm worker: against a fresh sh -c', best('worker'), best('hook'), 10),
    faster('warm worker: against a fresh Node script', best('worker'), best('nodeScript'), 100),
  ]
}

function atMost(name: string, ns: number, goal: number): Figure {
  return { name, value: ns / 1e6, unit: 'ms', goal, better: 'at most' }
}

/** In C where there is a compiler; else from here, which is not quite as bare. */
function bareStart(): { run(): number; close(): void } {
  const dir = mkdtempSync(join(tmpdir(), 'hookhelm-bench-'))
  const program = join(dir, 'posix-spawn')
  const close = () => rmSync(dir, { recursive: true })
  try {
    execFileSync('cc', ['-O2', '-o', program, join(import.meta.dirname, 'posix-spawn.c')])
  } catch {
    const once = () => timed(() => execFileSync('/bin/sh', ['-c', COMMAND], { input: 'x'.repeat(1_024) }))
    return { close, run: () => quantile(Array.from({ length: RUNS }, once), 0.5) }
  }
  const times = () =>
    execFileSync(program, [String(RUNS), COMMAND], { encoding: 'utf8' })
      .trim()
      .split('\n')
  return { close, run: () => quantile(times().map(Number), 0.5) }
}

/** A process of that size which measures on request. */
function measurer(megabytes: number): { ask: Ask; close(): void } {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(
    process.execPath,
    [import.meta.filename, 'measure', String(megabytes)],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async ask(subject) {
      child.stdin.write(`${subject}\n`)
      return Number((await lines.next()).value)
    },
    close: () => child.stdin.end(),
  }
}

/** What such a process does. */
async function measure(megabytes: number): Promise<void> {
  // Small pieces, as a program has them: the kernel would put large ones into pages that are cheap to fork.
  const ballast = Array.from({ length: megabytes * 16 }, () => Buffer.alloc(65_536, 1))
  const helped = createProcesses({ start: 'helper' })
  const dispatch = (processes: Processes, config: object) => {
    const handler = createCommandHandler({ processes })
    const hooks = createHooks({ handlers: [handler] })
    hooks.add({ event: 'pre_tool_use', handler_type: 'command', timeout_ms: 10_000, config })
    const payload = { tool_name: 'Bash', tool_input: { text: 'x'.repeat(900) } }
    return async () => {
      const { kind } = await hooks.dispatch('pre_tool_use', payload)
      if (kind !== 'allow') throw new Error('the measured hook failed')
    }
  }
  const cases: Record<Exclude<Subject, 'blocked'>, readonly [run: () => Promise<void>, times: number]> = {
    hook: [dispatch(helped, { command: COMMAND }), RUNS],
    start: [dispatch(helped, { exec: ['/bin/true'] }), RUNS],
    direct: [dispatch(createProcesses({ start: 'direct' }), { exec: ['/bin/true'] }), RUNS / 4],
    worker: [dispatch(helped, { exec: ['node', '-e', WORKER], worker: true }), RUNS * 20],
    nodeScript: [dispatch(helped, { exec: ['node', '-e', NODE_SCRIPT] }), 3],
  }
  for await (const line of createInterface({ input: process.stdin })) {
    const subject = subjects.find((known) => known === line) ?? 'hook'
    console.log(subject === 'blocked' ? await blockedTime(helped) : await middle(...cases[subject]))
  }
  process.exit(ballast.length === megabytes * 16 ? 0 : 1)
}

/** How long nothing else can run while a command is started. */
async function blockedTime(processes: Processes): Promise<number> {
  const spec = { argv: shell(COMMAND), env: { PATH: process.env.PATH ?? '' }, stdin: 'x'.repeat(1_024) }
  const { signal } = new AbortController()
  const times: number[] = []
  for (let run = 0; run < RUNS * 2; run++) {
    let running: Promise<unknown> | undefined
    times.push(
      timed(() => {
        running = processes.run(spec, signal)
      }),
    )
    await running
  }
  return quantile(times, 0.99)
}

async function middle(run: () => Promise<void>, times: number): Promise<number> {
  const taken: number[] = []
  for (let i = 0; i < times; i++) {
    const begun = performance.now()
    await run()
    taken.push((performance.now() - begun) * 1e6)
  }
  return quantile(taken, 0.5)
}

function timed(run: () => unknown): number {
  const begun = performance.now()
  run()
  return (performance.now() - begun) * 1e6
}

function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? 0
}

if (process.argv[2] === 'measure') await measure(Number(process.argv[3]))
