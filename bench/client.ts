/** What a hook costs a coding agent: our client, started as the agent starts it, against programs that do nothing. */
import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileBest, findCompiler } from '../scripts/native/compile-client.ts'
import { QUIET, quantile } from './command-case.ts'
import { type Figure, faster, ratio } from './figure.ts'

const ROUNDS = 10
const root = join(import.meta.dirname, '..')
const script = join(root, 'src/agents/client/hookhelm-hook.cjs')
const payload = JSON.stringify({
  session_id: '5e4c1f7a-0000-4000-8000-000000000000',
  transcript_path: '/home/user/.claude/projects/x/5e4c1f7a.jsonl',
  cwd: '/home/user/x',
  permission_mode: 'default',
  hook_event_name: 'PreToolUse',
  tool_name: 'Bash',
  tool_input: { command: `echo ${'x'.repeat(600)}`, description: 'Print a line' },
  tool_use_id: 'toolu_01ABCDEFGHIJKLMNOPQRSTUV',
})

/** `server` is a program that sends the path of its socket; see gateway/agent-server.ts. */
export async function clientFigures(server = 'gateway/agent-server.ts'): Promise<Figure[]> {
  const compiler = findCompiler()
  if (compiler === undefined) throw new Error('the figures of the native client need a C compiler')
  const folder = mkdtempSync(join(tmpdir(), 'hookhelm-client-bench-'))
  const gateway = fork(join(import.meta.dirname, server))
  try {
    const [{ socket }] = (await once(gateway, 'message')) as [{ socket: string }]
    const spawner = join(folder, 'client-spawn')
    const native = join(folder, 'hookhelm-hook')
    execFileSync(compiler, ['-O2', '-o', spawner, join(import.meta.dirname, 'client-spawn.c')])
    compileBest(compiler, native)
    return figuresOf(measure(spawner, socket, native))
  } finally {
    gateway.send('stop')
    await once(gateway, 'exit')
    rmSync(folder, { recursive: true })
  }
}

type Best = Readonly<Record<'bare' | 'native' | 'node' | 'script', number>>

/** The best of several rounds; the first warms up. */
function measure(spawner: string, socket: string, native: string): Best {
  const args = ['claude-code', 'PreToolUse', '--socket', socket]
  const quick = [['/bin/true'], [native, ...args]]
  const slow = [
    [process.execPath, '-e', '0'],
    [process.execPath, script, ...args],
  ]
  const best = { bare: Infinity, native: Infinity, node: Infinity, script: Infinity }
  for (let round = 0; round <= ROUNDS; round++) {
    const [bare = 0, ours = 0] = turns(spawner, 100, quick)
    const [node = 0, fallback = 0] = turns(spawner, 10, slow)
    if (round === 0) continue
    best.bare = Math.min(best.bare, bare)
    best.native = Math.min(best.native, ours)
    best.node = Math.min(best.node, node)
    best.script = Math.min(best.script, fallback)
  }
  return best
}

/** Nanoseconds of each program, as quick as one in ten was. */
function turns(spawner: string, runs: number, programs: readonly (readonly string[])[]): number[] {
  const list = programs.flatMap((program, index) => (index === 0 ? program : ['--', ...program]))
  const lines = execFileSync(spawner, [String(runs), payload, ...list], { encoding: 'utf8' })
    .trim()
    .split('\n')
  return programs.map((_, column) =>
    quantile(
      lines.map((line) => Number(line.split(' ')[column])),
      QUIET,
    ),
  )
}

function figuresOf({ bare, native, node, script }: Best): Figure[] {
  return [
    ratio('agent client, native: round trip, against /bin/true', native, bare, 2),
    faster('agent client, native: against the same as a Node script', native, script, 30),
    ratio('agent client, Node: round trip, against node -e 0', script, node, 1.25),
  ]
}
