import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { trustStore } from '../../src/hook-files/trust.ts'
import { type Running, running } from '../gateway/running.fixture.ts'
import { runnerProcess, runsOf, untilEnded } from '../runs/runs.fixture.ts'
import { scratch, write } from '../trust/repository.fixture.ts'
import { failedTool, rulesOf } from './recovery.fixture.ts'

const HANG = 180_000
const version = { version: 1, enabled: true, maxChainDepth: 2, defaultDedupWindowMs: 30_000 }

/** A variable in a template. */
const of = (name: string) => `\${${name}}`

/** The three complete configs of the seed, unchanged. */
const retryViaFallback = {
  ...version,
  defaultCooldownMs: 30_000,
  rules: [
    {
      id: 'retry-task-via-fallback',
      trigger: { event: 'TaskCompleted', outcome: 'failed' },
      cooldownMs: 60_000,
      actions: [
        {
          type: 'spawn_fallback_agent',
          id: 'spawn-retry-agent',
          description: 'Retry failed task with fallback agent',
          promptTemplate: `A task failed. Recover it safely.\nTask=${of('TASK_SUBJECT')}\nDescription=${of('TASK_DESCRIPTION')}\nError=${of('ERROR')}\nPayload=${of('PAYLOAD_JSON')}`,
          agentType: 'general-purpose',
          model: 'sonnet',
        },
      ],
    },
  ],
}
const notifyOnly = {
  ...version,
  defaultCooldownMs: 30_000,
  rules: [
    {
      id: 'notify-on-tool-failure',
      trigger: { event: 'PostToolUseFailure', outcome: 'failed' },
      condition: { toolNames: ['Edit', 'Write', 'Bash'] },
      actions: [
        {
          type: 'notify_team',
          id: 'notify-team-failure',
          recipients: ['*'],
          summary: 'Tool failure detected',
          messageTemplate: `Tool failure detected.\nEvent=${of('EVENT_NAME')} outcome=${of('OUTCOME')}\nError=${of('ERROR')}\nPayload=${of('PAYLOAD_JSON')}`,
        },
      ],
    },
  ],
}
const combined = {
  ...version,
  defaultCooldownMs: 45_000,
  rules: [
    {
      id: 'full-recovery-chain',
      trigger: { event: 'TaskCompleted', outcomes: ['failed', 'timeout'] },
      condition: { errorIncludes: ['timeout', 'capacity', 'connection'] },
      cooldownMs: 90_000,
      actions: [
        {
          type: 'spawn_fallback_agent',
          id: 'fallback-agent',
          description: 'Recover failed task execution',
          promptTemplate: `Recover failed task and produce a concise fix summary.\nTask=${of('TASK_SUBJECT')}\nError=${of('ERROR')}\nPayload=${of('PAYLOAD_JSON')}`,
        },
        {
          type: 'notify_team',
          id: 'notify-team',
          recipients: ['*'],
          summary: 'Recovery chain triggered',
          messageTemplate: `Recovery chain ${of('RULE_ID')} fired.\nOutcome=${of('OUTCOME')}\nTask=${of('TASK_SUBJECT')}\nError=${of('ERROR')}`,
        },
        { type: 'warm_remote_capacity', id: 'warm-capacity', createDefaultEnvironmentIfMissing: false },
      ],
    },
  ],
}

function trust(gateway: Pick<Running, 'home'>, path: string, text: string): void {
  trustStore(join(gateway.home, 'trust.json')).trust(path, text)
}

function inFolder(cwd: string, more: object = {}) {
  return { envelope: { cwd, session: `in ${cwd}`, ...more } }
}

test(
  'the three configs of the seed load unchanged and fire',
  async () => {
    const gateway = await running()
    const { switchOn, team, settled, mailbox, ok } = rulesOf(gateway)
    await switchOn({ default_team: 'ops' })
    await team('ops', [{ name: 'ada' }])
    // The built-in agent needs a model; an agent of the same name replaces it.
    await runsOf(gateway).agent('general-purpose', 'return { did: p.prompt }')
    await runnerProcess(gateway)
    const fireIn = async (config: unknown, event: string, payload: object, more: object = {}) => {
      const repository = scratch()
      mkdirSync(join(repository, '.git'))
      const text = JSON.stringify(config)
      const path = write(join(repository, '.hookhelm/hook-chains.json'), text)
      trust(gateway, path, text)
      const { body } = await gateway.dispatch(event, payload, inFolder(repository, more))
      const [firing] = await settled(1, `?event_id=${encodeURIComponent(body.event_id)}`)
      expect(firing.source).toBe(path)
      return firing
    }
    const task = { task_id: '1', task_subject: 'Build', error: 'connection lost' }
    const retried = await fireIn(retryViaFallback, 'task_completed', task, { outcome: 'failed' })
    const { run_id } = retried.actions[0]
    const run = await untilEnded(gateway, run_id)
    expect(run).toMatchObject({ status: 'completed', agent_name: 'general-purpose', depth: 1 })
    expect(run.parameters.prompt).toContain('Task=Build\nDescription=\nError=connection lost')
    const told = await fireIn(notifyOnly, 'PostToolUseFailure', failedTool)
    expect(told.actions).toMatchObject([{ status: 'executed' }])
    expect((await mailbox())[0]).toMatchObject({
      summary: 'Tool failure detected',
      text: expect.stringContaining('Event=post_tool_use_failure outcome=failed\nError=permission denied'),
    })
    await switchOn({ default_team: 'ops', allow_remote_sessions: true })
    const definition = { type: 'command', config: { exec: [process.execPath, '-e', ''] } }
    await ok('POST', '/v1/environments', { name: 'pool', definition })
    const all = await fireIn(combined, 'task_completed', { ...task, task_id: '2' }, { outcome: 'timeout' })
    expect(all.actions).toMatchObject([
      { action_id: 'fallback-agent', status: 'executed' },
      { action_id: 'notify-team', status: 'executed' },
      {
        ...{ action_id: 'warm-capacity', status: 'executed' },
        detail: 'Remote warm-up checked environment pool',
      },
    ])
    await untilEnded(gateway, all.actions[0].run_id)
    const listed = await ok('GET', '/v1/rules')
    expect(listed.rules.map(({ id }: { id: string }) => id).toSorted()).toEqual([
      'full-recovery-chain',
      'notify-on-tool-failure',
      'retry-task-via-fallback',
    ])
    expect(listed.files.map(({ state, rules }: { state: string; rules: number }) => [state, rules])).toEqual(
      Array.from({ length: 3 }, () => ['good', 1]),
    )
    expect((await ok('GET', '/v1/rules?folder=%2F')).rules).toEqual([])
  },
  HANG,
)

test(
  'a rule file has no effect before it is trusted, and its trusted content stays in force',
  async () => {
    const gateway = await running()
    const { switchOn, team, settled, firings, ok } = rulesOf(gateway)
    await switchOn({ default_team: 'ops' })
    await team('ops', [{ name: 'ada' }])
    const repository = scratch()
    mkdirSync(join(repository, '.git'))
    const config = { defaultCooldownMs: 0, defaultDedupWindowMs: 0, rules: notifyOnly.rules }
    const text = JSON.stringify(config)
    const path = write(join(repository, '.hookhelm/hook-chains.json'), text)
    const fail = () => gateway.dispatch('post_tool_use_failure', failedTool, inFolder(repository))
    await fail()
    expect(await firings()).toEqual([])
    const isWarned = async () => {
      const { body } = await gateway.call('GET', '/v1/status')
      return JSON.stringify(body).includes(`${path}: untrusted`)
    }
    expect(await isWarned()).toBe(true)
    trust(gateway, path, text)
    const inForce = () => ok('GET', `/v1/rules?folder=${encodeURIComponent(repository)}`)
    await gateway.until(inForce, ({ rules }) => rules.length === 1)
    await fail()
    await settled(1)
    // A change needs trust; until then, what was trusted applies.
    const changed = JSON.stringify({ ...config, rules: [{ ...config.rules[0], id: 'other' }] })
    writeFileSync(path, changed)
    await gateway.until(isChanged, Boolean)
    await fail()
    expect((await settled(2)).map(({ rule_id }) => rule_id)).toEqual(
      Array.from({ length: 2 }, () => 'notify-on-tool-failure'),
    )
    trust(gateway, path, changed)
    await gateway.until(inForce, ({ rules }) => rules[0]?.id === 'other')

    async function isChanged(): Promise<boolean> {
      await inForce()
      const { body } = await gateway.call('GET', '/v1/status')
      return JSON.stringify(body).includes(`${path}: changed`)
    }
  },
  HANG,
)

test(
  'the file of the user applies to every event; a broken change keeps the rules that were in force',
  async () => {
    const gateway = await running()
    const { switchOn, ok } = rulesOf(gateway)
    await switchOn()
    const path = join(gateway.home, 'hook-chains.json')
    const rules = async () => (await ok('GET', '/v1/rules')).rules.map(({ id }: { id: string }) => id)
    writeFileSync(path, JSON.stringify(notifyOnly))
    await gateway.until(rules, (ids) => ids.length === 1)
    writeFileSync(path, '{ "rules": [')
    const isRed = async () => {
      await rules()
      return gateway.logged.some(({ name, fields }) => name === 'rules.file' && fields.state === 'red')
    }
    await gateway.until(isRed, Boolean)
    expect(await rules()).toEqual(['notify-on-tool-failure'])
    writeFileSync(path, JSON.stringify(combined))
    await gateway.until(rules, (ids) => ids[0] === 'full-recovery-chain')
  },
  HANG,
)

test.each([
  ['1', {}, '.openclaude/hook-chains.json', 1],
  ['0', {}, '.openclaude/hook-chains.json', 0],
  ['1', { CLAUDE_CODE_HOOK_CHAINS_CONFIG_PATH: 'chains/own.json' }, 'chains/own.json', 1],
])(
  'CH-2 CH-4 with the switch %s and %j, %s gives %i rules',
  async (gate, env, file, count) => {
    const gateway = await running({ env: { CLAUDE_CODE_ENABLE_HOOK_CHAINS: gate, ...env } })
    const { ok } = rulesOf(gateway)
    const repository = scratch()
    mkdirSync(join(repository, '.git'))
    const text = JSON.stringify({ hookChains: notifyOnly })
    const path = join(repository, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    trust(gateway, path, text)
    const { rules } = await ok('GET', `/v1/rules?folder=${encodeURIComponent(repository)}`)
    expect(rules).toHaveLength(count)
    if (count > 0)
      expect(rules[0]).toMatchObject({ source: path, id: 'notify-on-tool-failure', version: null })
  },
  HANG,
)
