import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from '../test/agents-real/recipe.ts'
import { claudeCode } from '../test/agents-real/recipes/claude-code.ts'
import { type OpenStage, openStage } from '../test/agents-real/stage.ts'
import type { Figure } from './figure.ts'

const CALLS = 20
const ROUNDS = 5

/** What a tool call of a real session costs with us, to the same session with `true` in our place. */
export async function agentSessionFigures(): Promise<Figure[]> {
  const cli = join(cacheFolder(), claudeCode.name)
  if (!existsSync(join(cli, 'installed.json'))) {
    console.error('agent session: not measured, `npm run test:agents` installs the agents first')
    return []
  }
  const ours = await stageWith(cli)
  const theirs = await stageWith(cli)
  const settings = join(theirs.home, '.claude', 'settings.json')
  writeFileSync(settings, withTrue(readFileSync(settings, 'utf8')))
  try {
    const times = { ours: [] as number[], theirs: [] as number[] }
    for (let round = 0; round <= ROUNDS; round++) {
      const [a, b] = [await session(ours), await session(theirs)]
      // The first session of a home sets things up.
      if (round === 0) continue
      times.ours.push(a)
      times.theirs.push(b)
    }
    const perCall = (median(times.ours) - median(times.theirs)) / CALLS
    const detail = `${Math.round(median(times.ours))} ms against ${Math.round(median(times.theirs))} ms for ${CALLS} calls`
    const name = 'added to a tool call of Claude Code, over `true` as its hook'
    return [{ name, value: perCall, unit: 'ms', goal: 5, better: 'at most', detail }]
  } finally {
    await ours.close()
    await theirs.close()
  }
}

async function stageWith(cli: string): Promise<OpenStage> {
  const stage = await openStage(
    claudeCode,
    cli,
    Array.from({ length: CALLS }, (_, index) => `echo ${index}`),
  )
  await stage.up([{ event: 'pre_tool_use', run: () => undefined }])
  stage.connect()
  return stage
}

async function session(stage: OpenStage): Promise<number> {
  const { ms, code, output } = await claudeCode.run(stage)
  if (code !== 0) throw new Error(output)
  return ms
}

/** The same hooks at the same events, and each of them does nothing. */
function withTrue(settings: string): string {
  return JSON.stringify(
    JSON.parse(settings, (key, value: unknown) => {
      if (key === 'command') return '/bin/true'
      return key === 'args' ? [] : value
    }),
  )
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}
