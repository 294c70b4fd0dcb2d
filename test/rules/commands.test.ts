import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { trustStore } from '../../src/hook-files/trust.ts'
import { hookhelm } from '../gateway/doors.fixture.ts'
import { running } from '../gateway/running.fixture.ts'
import { scratch, write } from '../trust/repository.fixture.ts'
import { rulesOf } from './recovery.fixture.ts'

const HANG = 120_000

test(
  'rules simulate tells which rules match, why others do not, and what each action would do',
  async () => {
    const gateway = await running()
    const { rule, switchOn, settled, firings, team } = rulesOf(gateway)
    await switchOn()
    await team('ops', [{ name: 'ada' }])
    const trigger = { event: 'PostToolUseFailure', outcome: 'failed' }
    const notify = { type: 'notify_team', id: 'tell', teamName: 'ops', summary: 'Failed: $ERROR' }
    await rule({ id: 'edit', trigger, condition: { toolNames: ['Edit'] }, actions: [notify] })
    await rule({ id: 'write', trigger, condition: { toolNames: ['Write'] }, actions: [notify] })
    await rule({ id: 'off', enabled: false, trigger, actions: [notify] })
    const simulate = async () => {
      const payload = JSON.stringify({ tool_name: 'Edit', tool_input: {}, error: 'no ink' })
      const args = ['rules', 'simulate', '--event', 'PostToolUseFailure', '--payload', payload]
      const { code, stdout } = await hookhelm(gateway, args)
      expect(code).toBe(0)
      return stdout.trimEnd().split('\n')
    }
    expect(await simulate()).toEqual([
      'post_tool_use_failure with the outcome failed: 1 of 3 rules match',
      'edit matches',
      '  would fire',
      '  - tell: would notify * of ops: Failed: no ink',
      'write does not match: condition.toolNames wants ["Write"], the event has "Edit"',
      'off is switched off',
    ])
    expect(await firings()).toEqual([])
    await gateway.dispatch('PostToolUseFailure', { tool_name: 'Edit', tool_input: {}, error: 'no ink' })
    await settled(1)
    expect((await simulate())[2]).toMatch(/^ {2}would not fire now: rule cooldown active for \d+ms$/)
    const [firing] = await firings()
    const ofEvent = await hookhelm(gateway, ['rules', 'simulate', '--event-id', firing.event_id])
    expect(ofEvent.stdout).toContain('post_tool_use_failure with the outcome failed: 1 of 3 rules match')
    const shown = await hookhelm(gateway, ['rules', 'firing', firing.firing_id])
    expect(shown.stdout.trimEnd().split('\n')).toEqual([
      `post_tool_use_failure with the outcome failed, event ${firing.event_id}`,
      expect.stringMatching(/^fired the rule edit at \d{4}-/),
      '  - tell: executed (Team notification sent to 1 recipient(s))',
      '  message to ada of ops: unread',
    ])
    const agents = await hookhelm(gateway, ['blueprints', 'list'])
    expect(agents.stdout).toMatch(/general-purpose.*builtin/)
  },
  HANG,
)

test(
  'a switch takes its value with a space or an equals sign',
  async () => {
    const gateway = await running()
    const { rule, ok } = rulesOf(gateway)
    const actions = [{ type: 'notify_team' }]
    await rule({ id: 'mend', trigger: { event: 'PostToolUseFailure' }, actions })
    const isEnabled = async () => (await ok('GET', '/v1/rules')).rules[0].enabled
    const toggle = (...words: readonly string[]) => hookhelm(gateway, ['rules', 'toggle', ...words])
    for (const [words, enabled] of [
      [['mend', '--enabled', 'false'], false],
      [['--enabled', 'true', 'mend'], true],
      [['--enabled=false', 'mend'], false],
      [['mend', '--enabled'], true],
    ] as const) {
      expect((await toggle(...words)).code).toBe(0)
      expect([words, await isEnabled()]).toEqual([words, enabled])
    }
  },
  HANG,
)

test(
  'hookhelm trust reviews a rule file, and leaves the trust in the hook file of its folder alone',
  async () => {
    const gateway = await running()
    const repository = scratch()
    mkdirSync(join(repository, '.git'))
    const hooks = write(join(repository, '.hookhelm/hooks.json'), '{ "hooks": [] }')
    const rules = write(
      join(repository, '.hookhelm/hook-chains.json'),
      JSON.stringify({
        rules: [{ id: 'r', trigger: { event: 'Stop' }, actions: [{ type: 'notify_team' }] }],
      }),
    )
    const trust = (...args: string[]) => hookhelm(gateway, ['trust', '--cwd', repository, ...args])
    expect(await trust('--show')).toMatchObject({ code: 4 })
    const first = await trust()
    expect(first.code).toBe(0)
    expect(first.stderr).toContain(`trusted: ${rules} (1 recovery rules)`)
    const store = trustStore(join(gateway.home, 'trust.json'))
    expect([store.find(hooks)?.path, store.find(rules)?.path]).toEqual([hooks, rules])
    expect((await trust()).stderr).toContain(`already trusted: ${rules}`)
    expect((await trust('--revoke')).code).toBe(0)
    expect([store.find(hooks), store.find(rules)]).toEqual([undefined, undefined])
  },
  HANG,
)
