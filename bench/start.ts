/** What starting the command line costs, as the package is built, against a Node that does nothing. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { timed } from './command-case.ts'
import { type Figure, ratio } from './figure.ts'

const ROUNDS = 30
const root = join(import.meta.dirname, '..')
const cli = join(root, 'dist/cli/main.js')
const event = ['pre_tool_use', '--tool', 'Read', '--input', '{}']

const cases: readonly { readonly args: readonly string[]; readonly goal: number }[] = [
  { args: ['--version'], goal: 1.5 },
  { args: ['--help'], goal: 1.5 },
  { args: ['completion', 'bash'], goal: 1.5 },
  { args: ['list'], goal: 4 },
  { args: ['validate'], goal: 4 },
  { args: ['explain', ...event], goal: 4 },
  { args: ['dispatch', ...event], goal: 4 },
]

/** The hook file is the one that `hookhelm init` writes; none of its handlers runs for the event. */
export async function startFigures(): Promise<Figure[]> {
  execFileSync(process.execPath, [join(root, 'scripts/build.ts')], { stdio: 'pipe' })
  const home = mkdtempSync(join(tmpdir(), 'hookhelm-start-bench-'))
  mkdirSync(join(home, '.git'))
  const env = { PATH: process.env.PATH, HOME: home }
  const node = (args: readonly string[]) =>
    spawnSync(process.execPath, args, { cwd: home, env, encoding: 'utf8' })
  try {
    node([cli, 'init'])
    const best = measureInTurns([['-e', '0'], ...cases.map(({ args }) => [cli, ...args])], node)
    return [
      ...cases.map(({ args, goal }, index) =>
        ratio(
          `hookhelm ${args[0]}: start to end, against node -e 0`,
          best[index + 1] ?? 0,
          best[0] ?? 0,
          goal,
        ),
      ),
      countModules(home, node),
    ]
  } finally {
    rmSync(home, { recursive: true })
  }
}

type RunNode = (args: readonly string[]) => { readonly stderr: string }

/** Nanoseconds of each command: the best of the rounds. The first round fills the compile cache and does not count. */
function measureInTurns(commands: readonly (readonly string[])[], node: RunNode): number[] {
  const best = commands.map(() => Infinity)
  for (let round = 0; round <= ROUNDS; round++)
    for (const [index, args] of commands.entries()) {
      const time = timed(() => node(args))
      if (round > 0) best[index] = Math.min(best[index] ?? Infinity, time)
    }
  return best
}

function countModules(home: string, node: RunNode): Figure {
  const counter = join(home, 'count.mjs')
  writeFileSync(
    counter,
    `import { registerHooks } from 'node:module'
    let count = 0
    registerHooks({ load: (url, context, next) => (count++, next(url, context)) })
    process.on('exit', () => process.stderr.write(String(count)))`,
  )
  const value = Number(node(['--import', counter, cli, '--version']).stderr)
  return { name: 'hookhelm --version: modules loaded', value, unit: 'modules', goal: 10, better: 'at most' }
}
