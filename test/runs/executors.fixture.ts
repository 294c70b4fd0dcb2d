import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type FakeAnswer, type FakeModel, type FakeRequest, startFakeModel } from '../../src/testing/index.ts'
import { type Running, running } from '../gateway/running.fixture.ts'
import { localRunner, type RunnerProcess, runnerProcess, runsOf, untilEnded } from './runs.fixture.ts'

type Fields = Readonly<Record<string, unknown>>

/** An event as a hook of the gateway saw it. */
export interface SeenEvent {
  readonly event: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever the payload is, for tests to look into
  readonly payload: any
  readonly envelope: Fields
}

/** Answers of the fake model, one after the other. */
export const says = (text: string): FakeAnswer => ({ text })
export const calls = (tool: string, input: unknown): FakeAnswer => ({ calls: [{ tool, input }] })

export interface ModelScene {
  readonly gateway: Running
  /** Only with arguments for it. */
  readonly runner: RunnerProcess | undefined
  readonly fake: FakeModel
  readonly folder: string
  readonly seen: SeenEvent[]
  /** What the hook `decide` answers, by event. */
  readonly decisions: Record<string, (payload: SeenEvent['payload']) => unknown>
  /** Saves an agent that is a model, runs it to its end, and returns the run with the events of its session. */
  runModel(blueprint: Fields, parameters?: Fields): Promise<{ run: Fields; events: Fields[]; result: Fields }>
}

const lifecycle = [
  ...['session_start', 'user_prompt_submit', 'model_request', 'model_response', 'pre_tool_use'],
  ...['permission_request', 'post_tool_use', 'post_tool_use_failure', 'subagent_start', 'subagent_stop'],
  ...['pre_compact', 'post_compact', 'stop', 'session_end'],
]

/** A gateway with a hook on every event of an agent's life, a runner, which is a process if it gets arguments, and a fake model. */
export async function modelScene(
  script: readonly FakeAnswer[] | ((request: FakeRequest) => FakeAnswer),
  runnerArgs?: readonly string[],
): Promise<ModelScene> {
  const fake = await startFakeModel({ script })
  onTestFinished(() => fake.close())
  const folder = projectFolder()
  const seen: SeenEvent[] = []
  const decisions: ModelScene['decisions'] = {}
  const gateway = await running({
    functions: {
      decide: (payload, context) => {
        seen.push({ event: context.event, payload, envelope: { ...context.envelope } })
        return decisions[context.event]?.(payload)
      },
    },
  })
  for (const event of lifecycle)
    await gateway.hook({
      ...{ event, handler_type: 'function', config: { name: 'decide' } },
      ...(event === 'post_tool_use' ? { transform: true } : {}),
    })
  const env = {
    ANTHROPIC_BASE_URL: fake.url('anthropic'),
    ANTHROPIC_API_KEY: 'key',
    HOOKHELM_OUTBOUND_ALLOW: '127.0.0.1',
  }
  const reachable = { ...gateway, env }
  const runner = runnerArgs && (await runnerProcess(reachable, ...runnerArgs))
  if (runner === undefined) await localRunner(reachable)
  const { ok, start, events, result } = runsOf(gateway)
  return {
    ...{ gateway, runner, fake, folder, seen, decisions },
    async runModel(blueprint, parameters = { prompt: 'Do it.' }) {
      const given = { name: 'worker', type: 'autonomous', model: 'claude-x', executor: { type: 'model' } }
      await ok('POST', '/agents', { ...given, ...blueprint })
      const name = String(blueprint.name ?? given.name)
      const { run_id, session_id } = await start(name, parameters, { project_dir: folder })
      const run = await untilEnded(gateway, run_id)
      return { run, events: await events(session_id), result: await result(session_id) }
    },
  }
}

export function projectFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hookhelm-project-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
