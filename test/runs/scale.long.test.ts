import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freshDatabase } from '../postgres/database.ts'
import { type GatewayProcess, gatewayHome, scratchFolder } from './crash.fixture.ts'
import { runnerProcess, runsOf } from './runs.fixture.ts'

const HANG = 600_000
const RUNS = Number(process.env.HOOKHELM_SCALE_RUNS ?? 1_000)
const RUNNERS = 10
const STARTERS = 8
const runs = { leaseMs: 5_000, pollMs: 5_000 }

/** Does the work as often as it is listed, a few at a time. */
async function inParallel(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: STARTERS }, worker))
}

test(
  `${RUNS} runs, ${RUNNERS} runner processes, two gateways on one PostgreSQL; two runners and one gateway are killed on the way: no run is lost, every run completes once and is finished once, and only a run that was claimed again may have started its command twice`,
  async () => {
    const database = await freshDatabase()
    onTestFinished(() => database.drop())
    const homes = [gatewayHome(database), gatewayHome(database)] as const
    const first = await homes[0].open({ runs })
    const second = await homes[1].open({ runs })
    const log = join(scratchFolder(), 'log')
    const command = ['/bin/sh', '-c', `echo "$HOOKHELM_RUN_ID" >> '${log}'; echo '{}'`]
    await runsOf(first).ok('POST', '/agents', { name: 'count', type: 'procedural', executor: { command } })
    const at = (index: number): GatewayProcess => (index % 2 === 0 ? first : second)
    const runners = await Promise.all(Array.from({ length: RUNNERS }, (_, index) => runnerProcess(at(index))))
    const started = new Set<string>()
    await inParallel(RUNS, async (index) => {
      started.add((await runsOf(at(index)).start('count', { index })).run_id)
    })
    expect(started.size).toBe(RUNS)

    const ended = async () => {
      const [row] = await database.query(`select count(*) as n from runs where status = 'completed'`)
      return Number(row?.n)
    }
    await first.until(ended, (count) => count > RUNS / 3)
    await Promise.all([runners[0]?.kill(), runners[1]?.kill(), second.kill()])
    await homes[1].open({ runs })
    await first.until(ended, (count) => count === RUNS)

    const lines = readFileSync(log, 'utf8').trim().split('\n')
    expect(new Set(lines)).toEqual(started)
    const times = Map.groupBy(lines, (id) => id)
    const rows = await database.query('select run_id, attempts from runs')
    for (const { run_id, attempts } of rows)
      expect([run_id, times.get(String(run_id))?.length ?? 0]).toEqual([
        run_id,
        expect.toSatisfy((count) => count >= 1 && count <= Number(attempts)),
      ])
    const unfinished = async () =>
      (await database.query('select count(*) as n from runs where finish_pending'))[0]?.n
    await first.until(unfinished, (count) => Number(count) === 0)
    const perRun = `select n, count(*) as runs from (
        select count(*) as n from run_events where event_type = 'run_completed' group by run_id) counts group by n`
    expect(await database.query(perRun)).toEqual([{ n: '1', runs: String(RUNS) }])
    const finishes = `select count(*) as n, count(distinct session_id) as runs from events where event = 'run_finish'`
    const history = await first.until(
      async () => {
        // Reading the history makes rows of what is still in the journal.
        await first.call('GET', '/v1/executions?limit=1')
        return (await database.query(finishes))[0]
      },
      (row) => Number(row?.runs) === RUNS,
    )
    expect(history).toEqual({ n: String(RUNS), runs: String(RUNS) })
  },
  HANG,
)
