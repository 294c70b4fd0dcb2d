/** `npm run test:agents [agent …] [--case name]`: the real agents, offline, against fake models. Writes docs/agents.md. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { agentsPage } from '../../scripts/docs/agents-page.ts'
import { settlePage } from '../../scripts/page.ts'
import { allCases } from './all-cases.ts'
import { COMMAND } from './cases.ts'
import { cacheFolder, type Recipe } from './recipe.ts'
import { claudeCode } from './recipes/claude-code.ts'
import { codex } from './recipes/codex.ts'
import { copilotCli } from './recipes/copilot-cli.ts'
import { geminiCli } from './recipes/gemini-cli.ts'
import { openclaw } from './recipes/openclaw.ts'
import { opencode } from './recipes/opencode.ts'
import { openStage } from './stage.ts'

const recipes: readonly Recipe[] = [claudeCode, codex, geminiCli, copilotCli, opencode, openclaw]
const results = new URL('../agents/results.json', import.meta.url)

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { case: { type: 'string', multiple: true } },
})

const wanted = positionals.length === 0 ? recipes : recipes.filter(({ name }) => positionals.includes(name))
const chosen = allCases.filter(({ name }) => values.case === undefined || values.case.includes(name))

/** Answers where the packages of an agent are; they are installed once. */
function installed({ name, packages }: Recipe): string {
  const folder = join(cacheFolder(), name)
  const stamp = join(folder, 'installed.json')
  const content = JSON.stringify(packages)
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === content) return folder
  mkdirSync(folder, { recursive: true })
  console.log(`installing ${packages.join(' ')}`)
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts', ...packages]
  const { status, stderr } = spawnSync('npm', args, { encoding: 'utf8', cwd: folder })
  if (status !== 0) throw new Error(`${name} cannot be installed: ${stderr}`)
  writeFileSync(stamp, content)
  return folder
}

type Results = Record<string, { packages: readonly string[]; cases: Record<string, true | string> }>

const known: Results = existsSync(results) ? (JSON.parse(readFileSync(results, 'utf8')) as Results) : {}
let failures = 0
for (const recipe of wanted) {
  const cli = installed(recipe)
  const seen: Record<string, true | string> = { ...known[recipe.name]?.cases }
  for (const { name, run, steps } of chosen) {
    const stage = await openStage(recipe, cli, (stage) => steps?.(recipe, stage) ?? [COMMAND])
    const from = performance.now()
    const outcome = await run(stage, recipe).catch((thrown: unknown) => String(thrown))
    await stage.close()
    seen[name] = outcome
    if (outcome !== true && outcome !== 'not tried') failures += 1
    const mark = outcome === true ? 'ok ' : outcome === 'not tried' ? '-  ' : 'NOT'
    const seconds = ((performance.now() - from) / 1_000).toFixed(1)
    console.log(
      `${mark} ${recipe.name.padEnd(12)} ${name.padEnd(16)} ${seconds} s${outcome === true ? '' : ` ${outcome}`}`,
    )
  }
  known[recipe.name] = { packages: recipe.packages, cases: seen }
  writeFileSync(results, `${JSON.stringify(known, null, 2)}\n`)
  settlePage(agentsPage(), false)
}
console.log(failures === 0 ? 'all as it should be' : `${failures} not as it should be`)
process.exitCode = failures === 0 ? 0 : 1
