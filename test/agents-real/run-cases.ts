import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { RunningGateway } from '../../src/app/gateway/open-gateway.ts'
import { type Client, createClient } from '../../src/client/index.ts'
import type { Case } from './cases.ts'
import type { Recipe } from './recipe.ts'
import type { OpenStage } from './stage.ts'

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const FILE = 'ran.txt'
const REASON = 'HH-RUN-REASON-5'
const FIRST = 'say HH-FIRST-1'
const SECOND = 'go on with HH-SECOND-2'

/** Runs of the coordinator whose executor is a coding agent without a terminal. */
export const runCases: readonly Case[] = [
  {
    name: 'run',
    about:
      'a run of the coordinator executes the agent without a terminal: its tool runs, its text is the result',
    run: (stage, recipe) =>
      withRunner(stage, recipe, {}, async (runs) => {
        const { status, result_text } = await runs.start(FIRST)
        if (status !== 'completed') return `the run ${status}`
        if (result_text !== 'All done.') return `its result is ${result_text}`
        return stage.made(FILE) || 'the tool did not run'
      }),
  },
  {
    name: 'run blocked',
    about: 'a hook of the gateway blocks the tool of an agent inside a run: the tool does not run',
    run: (stage, recipe) =>
      withRunner(stage, recipe, {}, async (runs) => {
        await runs.blockTools()
        const { status } = await runs.start(FIRST)
        if (stage.made(FILE)) return 'the tool ran'
        if (status !== 'completed') return `the run ${status}`
        return modelGot(stage, REASON) || 'the model was not told why'
      }),
  },
  {
    name: 'run tool hook',
    about:
      'on_tool_call of the blueprint starts another agent, which refuses the tool call: the tool does not run',
    run: (stage, recipe) =>
      withRunner(stage, recipe, { on_tool_call: guardHook }, async (runs) => {
        const { status, run_id } = await runs.start(FIRST)
        if (stage.made(FILE)) return 'the tool ran'
        if (status !== 'completed') return `the run ${status}`
        if (!modelGot(stage, REASON)) return 'the model was not told why'
        const types = await runs.eventTypes(run_id)
        return types.includes('hook_blocked') || `the session has no hook_blocked: ${types.join(' ')}`
      }),
  },
  {
    name: 'run resume',
    about: 'a second run continues the session of the agent: the model sees both prompts',
    steps: () => [],
    run: (stage, recipe) =>
      withRunner(stage, recipe, {}, async (runs) => {
        const first = await runs.start(FIRST)
        if (first.status !== 'completed') return `the first run ${first.status}`
        const asked = stage.requests.length
        const second = await runs.resume(first.session_id, SECOND)
        if (second.status !== 'completed') return `the second run ${second.status}`
        const bodies = stage.requests.slice(asked).map(({ body }) => JSON.stringify(body ?? ''))
        const isContinued = bodies.some((body) => body.includes('HH-FIRST-1') && body.includes('HH-SECOND-2'))
        return isContinued || 'the model did not see the first prompt again'
      }),
  },
]

const guardHook = { type: 'agent', agent_name: 'guard', on_error: 'block' }

function modelGot(stage: OpenStage, text: string): boolean {
  return stage.requests.some(({ body }) => JSON.stringify(body ?? '').includes(text))
}

interface EndedRun {
  readonly run_id: string
  readonly session_id: string
  /** `completed`, or the status with the error. */
  readonly status: string
  readonly result_text: string | null
}

interface StageRuns {
  start(prompt: string): Promise<EndedRun>
  resume(sessionId: string, prompt: string): Promise<EndedRun>
  blockTools(): Promise<void>
  eventTypes(runId: string): Promise<readonly string[]>
}

/** A gateway, a connected agent, its blueprint `coder`, and a runner in its own process. */
async function withRunner(
  stage: OpenStage,
  recipe: Recipe,
  hooks: Readonly<Record<string, unknown>>,
  check: (runs: StageRuns) => Promise<true | string>,
): Promise<true | string> {
  const { headless } = recipe
  if (headless === undefined) return 'not tried'
  const gateway = await stage.up()
  stage.connect()
  const variables = headless.env(stage)
  const runner = startRunner(stage, gateway, variables)
  const client = createClient({ url: gateway.url, token: gateway.token })
  try {
    const refusal = JSON.stringify({ action: 'block', block_reason: REASON })
    const guard = { name: 'guard', type: 'procedural', executor: { command: ['/bin/echo', refusal] } }
    await client.call('blueprints.create', guard)
    const executor = {
      ...{ type: 'cli', agent: recipe.name, command: [...headless.command(stage)] },
      ...{ args: [...(headless.args ?? [])], allowed_env_vars: Object.keys(variables) },
    }
    await client.call('blueprints.create', {
      ...{ name: 'coder', type: 'autonomous', tools: ['Bash'], executor, hooks },
    })
    return await check(stageRuns(client, stage))
  } finally {
    await client.close()
    const ended = once(runner, 'exit')
    runner.kill()
    await ended
  }
}

function startRunner(
  { home, hookhelmHome, project }: OpenStage,
  { url, token }: RunningGateway,
  variables: Readonly<Record<string, string>>,
): ChildProcess {
  return spawn(process.execPath, [main, 'runner', '--quiet', '--folders', project], {
    env: {
      ...{ PATH: process.env.PATH, HOME: home, HOOKHELM_HOME: hookhelmHome, LANG: 'C.UTF-8' },
      ...{ ...variables, HOOKHELM_URL: url, HOOKHELM_TOKEN: token },
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

function stageRuns(client: Client, { project }: OpenStage): StageRuns {
  const ended = async (run_id: string): Promise<EndedRun> => {
    for (;;) {
      const { run } = await client.call('runs.show', { run_id })
      const { session_id } = run
      if (run.completed_at !== null) {
        const isCompleted = run.status === 'completed'
        const result = isCompleted ? await client.call('runSessions.result', { session_id }) : undefined
        const status = run.error === null ? run.status : `${run.status}: ${run.error}`
        return { run_id, session_id, status, result_text: result?.result_text ?? null }
      }
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  return {
    async start(prompt) {
      const parameters = { prompt }
      const started = await client.call('runs.start', {
        ...{ agent_name: 'coder', parameters, project_dir: project },
      })
      return ended(started.run_id)
    },
    async resume(session_id, prompt) {
      const { run_id } = await client.call('runs.resume', { session_id, parameters: { prompt } })
      return ended(run_id)
    },
    async blockTools() {
      const source = `function handle() { return { decision: 'block', reason: '${REASON}' } }`
      const hook = { event: 'pre_tool_use', handler_type: 'script', scope: 'tenant', config: { source } }
      await client.call('hooks.create', hook)
    },
    async eventTypes(run_id) {
      const { run } = await client.call('runs.show', { run_id })
      const { events } = await client.call('runSessions.events', { session_id: run.session_id })
      return events.map(({ event_type }) => event_type)
    },
  }
}
