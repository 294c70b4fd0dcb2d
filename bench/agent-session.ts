import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cacheFolder } from '../test/agents-real/recipe.ts'
import { claudeCode } from '../test/agents-real/recipes/claude-code.ts'
import { type OpenStage, openStage } from '../test/agents-real/stage.ts'
import type { Figure } from './figure.ts'
import { median } from './measure.ts'

const CALLS = 20
const ROUNDS = 9

/** What a tool call of a real session costs with us, to the same session with `true` in our place. */
export async function agentSessionFigures(): Promise<Figure[]> {
  const cli = join(cacheFolder(), claudeCode.name)
  if (!existsSync(join(cli, 'installed.json'))) {
    console.error('agent session: not measured, `npm run test:agents` installs the agents first')
    return []
  }
  const ours = await stageWith(cli)
  const theirs = await stageWith(cli)
  const gateway = await startGateway(ours)
  const settings = join(theirs.home, '.claude', 'settings.json')
  writeFileSync(settings, withTrue(readFileSync(settings, 'utf8')))
  try {
    // The first session of a home sets things up.
    await session(ours)
    await session(theirs)
    const pairs: { readonly ours: number; readonly theirs: number }[] = []
    // In pairs, because the machine is faster at one time than at another.
    for (let round = 0; round < ROUNDS; round++)
      pairs.push({ ours: await session(ours), theirs: await session(theirs) })
    const perCall = median(pairs.map((pair) => pair.ours - pair.theirs)) / CALLS
    const typical = (side: 'ours' | 'theirs') => Math.round(median(pairs.map((pair) => pair[side])))
    const detail = `${typical('ours')} ms against ${typical('theirs')} ms for ${CALLS} calls`
    const name = 'added to a tool call of Claude Code, over `true` as its hook'
    return [{ name, value: perCall, unit: 'ms', goal: 5, better: 'at most', detail }]
  } finally {
    gateway.send('stop')
    await once(gateway, 'exit')
    await ours.close()
    await theirs.close()
  }
}

async function stageWith(cli: string): Promise<OpenStage> {
  const commands = Array.from({ length: CALLS }, (_, index) => `echo ${index}`)
  const stage = await openStage(claudeCode, cli, () => commands)
  stage.connect()
  return stage
}

/** In a process of its own, with one hook that every call matches. */
async function startGateway({ home, hookhelmHome }: OpenStage): Promise<ChildProcess> {
  const file = fileURLToPath(new URL('./gateway/agent-server.ts', import.meta.url))
  const env = { PATH: process.env.PATH, HOME: home, HOOKHELM_HOME: hookhelmHome }
  const child = fork(file, [], { env, execArgv: [] })
  await once(child, 'message')
  return child
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
