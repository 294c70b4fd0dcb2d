import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Running } from '../gateway/running.fixture.ts'
import { rulesOf } from '../rules/recovery.fixture.ts'
import { runsOf, untilEnded } from '../runs/runs.fixture.ts'

const HOSTILE_ERROR = `<img src=x onerror="window.hacked = true">\u202egnp.exe ${'x'.repeat(2_000)}`

/** A rule of a file, in the format of the file. */
const fileRule = (id: string) => ({
  rules: [{ id, trigger: { event: 'StopFailure' }, actions: [{ type: 'notify_team' }] }],
})

/** The user's rule file, and one of a repository that is not trusted. */
export function writeRuleFiles(gateway: Running) {
  const own = join(gateway.home, 'hook-chains.json')
  writeFileSync(own, JSON.stringify(fileRule('from-my-file')))
  const repository = mkdtempSync(join(tmpdir(), 'hookhelm-rules-'))
  mkdirSync(join(repository, '.git'))
  mkdirSync(join(repository, '.hookhelm'))
  const untrusted = join(repository, '.hookhelm/hook-chains.json')
  writeFileSync(untrusted, JSON.stringify(fileRule('from-a-repository')))
  return { own, untrusted, repository }
}

/** The agents, the team and the rule of a run that fails and is mended. */
export async function prepareRecovery(gateway: Running, webhook: string): Promise<void> {
  const { agent } = runsOf(gateway)
  const { switchOn, rule, team } = rulesOf(gateway)
  await switchOn()
  await agent('breaks', 'throw new Error("no ink")', { description: 'Prints a report.' })
  await agent('mends', 'return { mended: true, pages: 48 }', { description: 'Finds another printer.' })
  const channels = [{ type: 'webhook', url: webhook }]
  await team('ops', [{ name: 'ada', channels }, { name: 'bob' }])
  await rule({
    id: 'mend-the-printer',
    trigger: { event: 'run_finish', outcomes: ['failed', 'timeout'] },
    condition: { eventFieldEquals: { agent_name: 'breaks' } },
    cooldownMs: 3_600_000,
    actions: [
      { type: 'spawn_fallback_agent', id: 'fallback', agentType: 'mends', promptTemplate: 'Mend $ERROR' },
      { type: 'notify_team', id: 'tell', teamName: 'ops', summary: 'The printer failed: $RULE_ID fired' },
      { type: 'warm_remote_capacity', id: 'warm' },
    ],
  })
}

/** Everything that the view can show: firings, hostile texts, files, teams, environments. */
export async function seedRecovery(
  gateway: Running,
): Promise<{ readonly firing: string; readonly event: string }> {
  const { repository } = writeRuleFiles(gateway)
  // Nothing listens there, so the delivery waits with an error.
  await prepareRecovery(gateway, 'http://127.0.0.1:9/team')
  const { rule, settled, ok } = rulesOf(gateway)
  await rule({
    id: 'tell-about-failed-tools',
    trigger: { event: 'PostToolUseFailure', outcome: 'failed' },
    condition: { toolNames: ['Edit', 'Write'], errorIncludes: ['permission', '<img'] },
    actions: [
      { type: 'notify_team', teamName: 'ops', summary: 'Failed: $ERROR', messageTemplate: '$PAYLOAD_JSON' },
    ],
  })
  await rule({
    id: 'call-the-pool',
    enabled: false,
    trigger: { event: 'task_completed', outcome: 'failed' },
    actions: [{ type: 'call_webhook', config: { url: 'https://pool.example/scale' } }],
  })
  await ok('POST', '/v1/environments', {
    name: 'spare runner',
    definition: { type: 'process', exec: ['hookhelm', 'runner', '--quiet'] },
  })
  await ok('POST', '/v1/environments', {
    name: 'pool',
    definition: { type: 'http', enabled: false, config: { url: 'https://pool.example/scale' } },
  })
  const { body } = await gateway.dispatch(
    'post_tool_use_failure',
    { tool_name: 'Edit', tool_input: { file_path: 'a.ts' }, error: HOSTILE_ERROR },
    { envelope: { cwd: repository } },
  )
  const { start } = runsOf(gateway)
  const { run_id } = await start('breaks')
  await untilEnded(gateway, run_id)
  const firings = await settled(2)
  const mended = firings.find(({ rule_id }) => rule_id === 'mend-the-printer')
  await untilEnded(gateway, mended?.actions[0].run_id)
  return { firing: mended?.firing_id, event: body.event_id }
}
