/** What a command hook costs: against the bare start of the same command, from a small and from a large process. */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { COMMAND, QUIET, quantile, RUNS, timed } from './command-case.ts'
import { type Figure, faster, ratio } from './figure.ts'

const LARGE_MB = 400
const ROUNDS = 10
const inSmall = ['hook', 'blocked', 'worker', 'nodeScript']
const inLarge = ['hook', 'start', 'direct', 'blocked']

export async function commandFigures(): Promise<Figure[]> {
  // Below the packages, so that what is built there finds them.
  const dir = mkdtempSync(join('node_modules', '.hookhelm-bench-'))
  try {
    execFileSync('node_modules/.bin/tsc', ['-p', 'bench/tsconfig.json', '--outDir', dir])
    return figuresOf(await measure(join(process.cwd(), dir), bareStart(dir)))
  } finally {
    rmSync(dir, { recursive: true })
  }
}

type Best = (name: string) => number

/** Taken in turns, so that noise hits all alike; the first round warms up. */
async function measure(root: string, bare: () => number): Promise<Best> {
  const small = measurer(0, root)
  const large = measurer(LARGE_MB, root)
  const best = new Map<string, number>()
  for (let round = 0; round <= ROUNDS; round++) {
    if (round === 1) best.clear()
    const keep = (name: string, value: number) => best.set(name, Math.min(value, best.get(name) ?? value))
    keep('bare', bare())
    for (const subject of inSmall) keep(subject, await small.ask(subject))
    for (const subject of inLarge) keep(`large ${subject}`, await large.ask(subject))
  }
  small.close()
  large.close()
  return (name) => best.get(name) ?? Number.NaN
}

function figuresOf(best: Best): Figure[] {
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
function bareStart(dir: string): () => number {
  const program = join(dir, 'posix-spawn')
  try {
    execFileSync('cc', ['-O2', '-o', program, join(import.meta.dirname, 'posix-spawn.c')])
  } catch {
    const once = () => timed(() => execFileSync('/bin/sh', ['-c', COMMAND], { input: 'x'.repeat(1_024) }))
    return () => quantile(Array.from({ length: RUNS }, once), QUIET)
  }
  return () => {
    const times = execFileSync(program, [String(RUNS), COMMAND], { encoding: 'utf8' })
      .trim()
      .split('\n')
    return quantile(times.map(Number), QUIET)
  }
}

/** A process of that size which measures on request. */
function measurer(megabytes: number, root: string): { ask(subject: string): Promise<number>; close(): void } {
  const program = join(import.meta.dirname, 'command-measurer.ts')
  const child = spawn(process.execPath, [program, String(megabytes), root], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async ask(subject) {
      child.stdin.write(`${subject}\n`)
      return Number((await lines.next()).value)
    },
    close: () => child.stdin.end(),
  }
}
