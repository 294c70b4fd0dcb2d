import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSecrets } from '../../safe/secrets/secret.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { createRun } from '../create-run.ts'
import { createRunEvents } from '../run-events.ts'
import { createRunWaits } from '../run-waits.ts'
import { type CodingAgentCall, createCodingAgentRuns } from './coding-agent-runs.ts'
import { createRunProofs } from './run-proof.ts'

const tenant = '11111111-1111-4111-8111-111111111111'
const keyring = { current: { id: 'k1', key: Buffer.alloc(32, 7) } }
const executor = { type: 'cli', agent: 'claude-code' }
const call: CodingAgentCall = {
  ...{ tenant, agent: 'claude-code', session: 'own-1' },
  ...{ proof: undefined, withinMs: undefined, signal: undefined },
}

/** A run of a coding agent that a runner has claimed, and whose session nobody knows yet. */
async function claimedRun() {
  const clock = fakeClock()
  const folder = mkdtempSync(join(tmpdir(), 'hookhelm-runs-'))
  const store = await openSqliteStore({ file: join(folder, 'hookhelm.db'), keyring, clock })
  const waits = createRunWaits(clock)
  onTestFinished(async () => {
    waits.close()
    await store.close()
    rmSync(folder, { recursive: true })
  })
  await store.createTenant({ id: tenant, name: 'acme', created_at: clock.now() })
  await store.saveBlueprint(tenant, {
    ...{ name: 'coder', source: 'stored', definition: { name: 'coder', type: 'autonomous', executor } },
  })
  const creating = { store, events: createRunEvents(store, clock), edition: 'lite' } as const
  await createRun(creating, { tenant, agent_name: 'coder', parameters: { prompt: 'do' }, created_by: 'me' })
  const runner = { runner_id: 'r', hostname: 'h', project_dir: '', executor_profile: '', tags: [] }
  await store.registerRunner({
    ...{ ...runner, tenant_id: tenant, executor_type: 'command', require_matching_tags: false },
    registered_by: 'me',
  })
  const taken = await store.takeRun({ tenant, runner_id: 'r', needsHooks: [], lease_ms: 60_000 })
  const run = taken!.run
  const proofs = createRunProofs(createSecrets(keyring))
  const runs = createCodingAgentRuns({
    ...{ ...creating, waits, clock, proofs, toolCallAgents: async () => ['coder'] },
  })
  const report = async (executor_session_id: string) => {
    await store.reportRun(tenant, run.run_id, 'r', { report: 'started', executor_session_id })
    waits.announce(tenant)
  }
  /** Moves the clock until the call is decided or the time is over. */
  const settled = async (found: Promise<unknown>, ms: number) => {
    let isSettled = false
    found.then(
      () => (isSettled = true),
      () => (isSettled = true),
    )
    for (let at = 0; at < ms && !isSettled; at += 500) {
      await clock.advance(500)
      // The store answers in its own time.
      await store.findRun(tenant, run.run_id)
    }
    return isSettled
  }
  return { clock, store, run, runs, proofs, report, settled }
}

describe('the run of a call', () => {
  test('is found although its session is reported after six seconds', async () => {
    const { run, runs, report, settled } = await claimedRun()
    const found = runs.find(call)
    expect(await settled(found, 6_000)).toBe(false)
    await report('own-1')
    expect(await found).toMatchObject({ run_id: run.run_id, agent_name: 'coder' })
  })

  test('that cannot be told rejects and names the run, so that its gate blocks', async () => {
    const { run, runs, settled } = await claimedRun()
    const found = runs.find(call)
    expect(await settled(found, 60_000)).toBe(true)
    await expect(found).rejects.toMatchObject({
      ...{ code: 'runs.unknown_session', message: expect.stringContaining(run.run_id) },
    })
  })

  test('is known at once by its proof, and calls of people then wait for nothing', async () => {
    const { run, runs } = await claimedRun()
    const proof = await runs.proofFor(run)
    expect(await runs.find({ ...call, proof })).toMatchObject({ run_id: run.run_id })
    expect(await runs.find(call)).toBeUndefined()
  })

  test('is none for people, once the session of the run is known', async () => {
    const { runs, report } = await claimedRun()
    await report('another')
    expect(await runs.find(call)).toBeUndefined()
  })
})

describe('a proof', () => {
  test('is given only where hooks must see the calls', async () => {
    const { run, runs } = await claimedRun()
    expect(await runs.proofFor({ ...run, agent_name: 'other' })).toBeUndefined()
  })

  test.each([
    ['of another run', ({ run }: Made, own: string) => own.replace(run.run_id, 'run_0123456789ab')],
    [
      'of another tenant',
      ({ run, proofs }: Made) => proofs.of('22222222-2222-4222-8222-222222222222', run.run_id),
    ],
    ['that somebody made up', ({ run }: Made) => `${run.run_id}.${run.run_id}`],
  ])('%s proves nothing', async (_, change) => {
    const made = await claimedRun()
    const proof = change(made, made.proofs.of(tenant, made.run.run_id))
    await expect(made.runs.find({ ...call, proof })).rejects.toMatchObject({ code: 'runs.unknown_run' })
  })
})

type Made = Awaited<ReturnType<typeof claimedRun>>
