/**
 * `node test/agents-real/headless-run.ts [agent …]`: runs of real coding agents, offline, against a fake model. `npm run
 * test:agents` has installed them. A hook of the gateway blocks the tool call; what counts is whether the tool left its file.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '../../src/client/index.ts'
import { COMMAND } from './cases.ts'
import { cacheFolder, type Recipe, type Stage } from './recipe.ts'
import { claudeCode } from './recipes/claude-code.ts'
import { codex } from './recipes/codex.ts'
import { type HookFunction, type OpenStage, openStage } from './stage.ts'

const main = new URL('../../src/cli/main.ts', import.meta.url).pathname

interface HeadlessAgent {
  readonly recipe: Recipe
  command(stage: Stage): readonly string[]
  readonly args: readonly string[]
  env(stage: Stage): Readonly<Record<string, string>>
}

const agents: readonly HeadlessAgent[] = [
  {
    recipe: claudeCode,
    command: ({ cli }) => [join(cli, 'node_modules/@anthropic-ai/claude-code-linux-x64/claude')],
    args: [],
    env: ({ url }) => ({
      ...{ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'dummy', DISABLE_AUTOUPDATER: '1' },
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }),
  },
  {
    recipe: codex,
    command: ({ cli }) => [
      ...[process.execPath, join(cli, 'node_modules/@openai/codex/bin/codex.js')],
      // The trust that a person gives in its own dialog.
      '--dangerously-bypass-hook-trust',
    ],
    args: [],
    env: ({ home }) => ({ CODEX_HOME: join(home, '.codex'), FAKE_KEY: 'dummy' }),
  },
]

/** One run of the agent under a hook; answers how it ended and whether its tool ran. */
async function runUnder(
  agent: HeadlessAgent,
  hook: HookFunction,
): Promise<{ status: string; made: boolean }> {
  const { recipe } = agent
  const stage = await openStage(recipe, join(cacheFolder(), recipe.name), [COMMAND])
  let runner: ChildProcess | undefined
  try {
    const gateway = await stage.up([{ event: 'pre_tool_use', run: hook }])
    stage.connect()
    const variables = agent.env(stage)
    runner = spawn(process.execPath, [main, 'runner', '--quiet'], {
      env: {
        ...environmentOf(stage),
        ...variables,
        HOOKHELM_URL: gateway.url,
        HOOKHELM_TOKEN: gateway.token,
      },
      stdio: 'inherit',
    })
    const client = createClient({ url: gateway.url, token: gateway.token })
    const executor = {
      ...{ type: 'cli', agent: recipe.name, command: [...agent.command(stage)], args: [...agent.args] },
      allowed_env_vars: Object.keys(variables),
    }
    const blueprint = { name: 'coder', type: 'autonomous', tools: ['Bash'], executor }
    await client.call('blueprints.create', blueprint)
    const { run_id } = await client.call('runs.start', {
      ...{ agent_name: 'coder', parameters: { prompt: 'say hi' }, project_dir: stage.project },
    })
    for (;;) {
      const { run } = await client.call('runs.show', { run_id })
      if (run.completed_at !== null) {
        await client.close()
        return { status: `${run.status} ${run.error ?? ''}`.trim(), made: stage.made('ran.txt') }
      }
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  } finally {
    if (runner !== undefined) {
      const ended = once(runner, 'exit')
      runner.kill()
      await ended
    }
    await stage.close()
  }
}

function environmentOf({ home, hookhelmHome }: OpenStage): Readonly<Record<string, string>> {
  return { PATH: process.env.PATH ?? '', HOME: home, HOOKHELM_HOME: hookhelmHome, LANG: 'C.UTF-8' }
}

const wanted = process.argv.slice(2)
for (const agent of agents) {
  const { name } = agent.recipe
  if (wanted.length > 0 && !wanted.includes(name)) continue
  if (!existsSync(join(cacheFolder(), name))) {
    console.log(`-   ${name} is not installed`)
    continue
  }
  const free = await runUnder(agent, () => undefined)
  const held = await runUnder(agent, () => ({ kind: 'block', reason: 'not in a run' }))
  const isRight = free.made && !held.made && free.status === 'completed' && held.status === 'completed'
  console.log(`${isRight ? 'ok ' : 'NOT'} ${name} ${JSON.stringify({ free, held })}`)
  if (!isRight) process.exitCode = 1
}
