/** The process that `command.ts` starts: holds so much memory, and measures what it is told, one subject per line. */
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Processes } from '../src/safe/process/run-process.ts'
import { COMMAND, QUIET, quantile, RUNS, timed } from './command-case.ts'

const [megabytes = 0, root = ''] = [Number(process.argv[2]), process.argv[3]]
// As it is published: the helper without its types to strip is smaller, and that is what a fork costs.
const load = (path: string): Promise<unknown> => import(join(root, path))
const { commandHandler } = (await load(
  'handlers/command/command.js',
)) as typeof import('../src/handlers/command/command.ts')
const { createHooks } = (await load('index.js')) as typeof import('../src/index.ts')
const { createProcesses } = (await load(
  'safe/process/run-process.js',
)) as typeof import('../src/safe/process/run-process.ts')

const NODE_SCRIPT = 'process.stdin.resume().on("end", () => console.log("{}"))'
const WORKER = `
  require('node:readline').createInterface({ input: process.stdin })
    .on('line', (line) => console.log(JSON.stringify({ id: JSON.parse(line).id })))
`

// Small pieces, as a program has them: the kernel would put large ones into pages that are cheap to fork.
const ballast = Array.from({ length: megabytes * 16 }, () => Buffer.alloc(65_536, 1))
const helped = createProcesses({ start: 'helper' })

const subjects: Readonly<Record<string, () => Promise<number>>> = {
  hook: times(dispatch(helped, { command: COMMAND }), RUNS),
  start: times(dispatch(helped, { exec: ['/bin/true'] }), RUNS),
  direct: times(dispatch(createProcesses({ start: 'direct' }), { exec: ['/bin/true'] }), RUNS / 4),
  worker: times(dispatch(helped, { exec: ['node', '-e', WORKER], worker: true }), RUNS * 20, 0.5),
  nodeScript: times(dispatch(helped, { exec: ['node', '-e', NODE_SCRIPT] }), 3),
  blocked,
}

for await (const line of createInterface({ input: process.stdin })) console.log(await subjects[line]?.())
process.exit(ballast.length === megabytes * 16 ? 0 : 1)

function dispatch(processes: Processes, config: object): () => Promise<void> {
  const hooks = createHooks({ handlers: [commandHandler.create({ processes })] })
  hooks.add({ event: 'pre_tool_use', handler_type: 'command', timeout_ms: 10_000, config })
  const payload = { tool_name: 'Bash', tool_input: { text: 'x'.repeat(900) } }
  return async () => {
    const { kind } = await hooks.dispatch('pre_tool_use', payload)
    if (kind !== 'allow') throw new Error('the measured hook failed')
  }
}

function times(run: () => Promise<void>, runs: number, part = QUIET): () => Promise<number> {
  return async () => {
    const taken: number[] = []
    for (let i = 0; i < runs; i++) {
      const begun = performance.now()
      await run()
      taken.push((performance.now() - begun) * 1e6)
    }
    return quantile(taken, part)
  }
}

/** How long nothing else can run while a command is started. */
async function blocked(): Promise<number> {
  const argv = ['/bin/sh', '-c', COMMAND]
  const spec = { argv, env: { PATH: process.env.PATH ?? '' }, stdin: 'x'.repeat(1_024) }
  const { signal } = new AbortController()
  const taken: number[] = []
  for (let i = 0; i < RUNS * 2; i++) {
    let running: Promise<unknown> | undefined
    taken.push(
      timed(() => {
        running = helped.run(spec, signal)
      }),
    )
    await running
  }
  return quantile(taken, 0.99)
}
