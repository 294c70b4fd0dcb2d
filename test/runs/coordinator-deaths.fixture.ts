import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type GatewayProcess, homeOn, scratchFolder } from './crash.fixture.ts'
import type { DeathPoint } from './gateway-child.fixture.ts'
import { type DatabaseKind, runnerProcess, runsOf, untilEnded, waitForFile } from './runs.fixture.ts'

const HANG = 180_000

const hook = (agent_name: string) => ({ type: 'agent', agent_name, on_error: 'block' })
const typesOf = async (gateway: GatewayProcess, session: string): Promise<string[]> =>
  (await runsOf(gateway).events(session)).map(({ event_type }) => event_type)
const linesIn = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [])
/** Appends a line, as a command that must not run twice does. */
const append = (line: string) => `require('fs').appendFileSync(p.log ?? p.parameters.log, '${line}\\n');`

/** What the gateway that died held would be free half a minute later. */
const backdate = [
  'update runs set finish_due_at = 0 where finish_due_at is not null',
  'update deliveries set due_at = 0',
]

/** What happens when a coordinator is killed, at every point or at the first and the last before and after a run. */
export function coordinatorDeaths(kind: DatabaseKind, points: 'every' | 'first and last'): void {
  const chosen = <Point>(all: readonly Point[]) =>
    points === 'every' ? all : all.filter((_, at) => at === 0 || at === all.length - 1)

  test(
    'AO-33 in the middle of a hook finds the same hook run again',
    async () => {
      const home = await homeOn(kind)
      const first = await home.open()
      const { agent, start, ok } = runsOf(first)
      const [pid, go] = [join(scratchFolder(), 'pid'), join(scratchFolder(), 'go')]
      await agent(
        'slow',
        `const own = p.parameters; ${waitForFile.replaceAll('p.', 'own.')}
         return { action: 'continue', parameters: { ...own, seen: 1 } }`,
      )
      await agent('main', 'return {}', { hooks: { on_run_start: hook('slow') } })
      await runnerProcess(first)
      const { run_id, session_id } = await start('main', { pid, go })
      await first.until(async () => existsSync(pid), Boolean)
      expect((await ok('GET', `/runs/${run_id}`)).run.status).toBe('preparing')
      await first.kill()
      const second = await home.open()
      writeFileSync(go, '')
      expect(await untilEnded(second, run_id)).toMatchObject({
        ...{ status: 'completed', parameters: { seen: 1 }, original_parameters: { pid, go } },
      })
      const hookRuns = (await runsOf(second).ok('GET', '/runs?agent_name=slow')).runs
      expect(hookRuns).toHaveLength(1)
      const types = await typesOf(second, session_id)
      expect(types.filter((type) => type.startsWith('hook_'))).toEqual(['hook_start', 'hook_complete'])
    },
    HANG,
  )

  const startDeaths: readonly (readonly [string, DeathPoint])[] = [
    ['before the run of the hook exists', { when: 'before', method: 'createRun', with: ':run_start:' }],
    ['when the run of the hook exists', { when: 'after', method: 'createRun', with: ':run_start:' }],
    ['when the hook has answered', { when: 'before', method: 'endPreparation', with: '' }],
    ['when the run is prepared', { when: 'after', method: 'endPreparation', with: '' }],
  ]
  test.each(chosen(startDeaths))(
    'AO-33 %s asks the hook once, and the run completes once',
    async (_, dies) => {
      const home = await homeOn(kind)
      const log = join(scratchFolder(), 'log')
      const first = await home.open({ dies })
      const { agent, start } = runsOf(first)
      await agent('check', `${append('check')} return { action: 'continue', parameters: p.parameters }`)
      await agent('main', `${append('main')} return {}`, { hooks: { on_run_start: hook('check') } })
      await runnerProcess(first)
      const { run_id, session_id } = await start('main', { log })
      await first.ended
      const second = await home.open()
      expect(await untilEnded(second, run_id)).toMatchObject({ status: 'completed' })
      expect(linesIn(log)).toEqual(['check', 'main'])
      expect((await runsOf(second).ok('GET', '/runs?agent_name=check')).runs).toHaveLength(1)
      const types = await second.until(
        () => typesOf(second, session_id),
        (list) => list.includes('run_completed'),
      )
      expect(types.filter((type) => /^hook_|run_completed/.test(type))).toEqual([
        ...['hook_start', 'hook_complete', 'run_completed'],
      ])
    },
    HANG,
  )

  const finishDeaths: readonly (readonly [string, DeathPoint])[] = [
    ['when the end is stored', { when: 'after', method: 'reportRun', with: '"report":"ended"' }],
    [
      'when the events of the end are stored',
      { when: 'after', method: 'appendRunEvents', with: 'run_completed' },
    ],
    ['before the run of the hook exists', { when: 'before', method: 'createRun', with: ':run_finish:' }],
    ['when the run of the hook exists', { when: 'after', method: 'createRun', with: ':run_finish:' }],
    ['before the finish is confirmed', { when: 'before', method: 'confirmFinish', with: '' }],
  ]
  test.each(chosen(finishDeaths))(
    'AO-36 %s fires the hook after the run exactly once',
    async (_, dies) => {
      const home = await homeOn(kind)
      const log = join(scratchFolder(), 'log')
      const first = await home.open({ dies })
      const { agent, start } = runsOf(first)
      await agent('after', `${append('after')} return {}`)
      await agent('main', `${append('main')} return {}`, { hooks: { on_run_finish: hook('after') } })
      await runnerProcess(first)
      const { run_id, session_id } = await start('main', { log })
      await first.ended
      for (const statement of backdate) await home.execute(statement)
      const second = await home.open()
      expect(await untilEnded(second, run_id)).toMatchObject({ status: 'completed' })
      const types = await second.until(
        () => typesOf(second, session_id),
        (list) => list.includes('hook_complete'),
      )
      // A second hook would have been started before the run of the first one ended.
      expect((await runsOf(second).ok('GET', '/runs?agent_name=after')).runs).toHaveLength(1)
      expect(types.filter((type) => /^hook_|run_completed/.test(type))).toEqual([
        ...['run_completed', 'hook_start', 'hook_complete'],
      ])
      expect(linesIn(log)).toEqual(['main', 'after'])
    },
    HANG,
  )
}
