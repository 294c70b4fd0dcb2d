import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { runnerGateway } from '../../src/app/runner-gateway.ts'
import { createRunnerMeans } from '../../src/app/runner-means.ts'
import { createClient } from '../../src/client/client.ts'
import type { Log } from '../../src/engine/core/records/sink.ts'
import { Runner, type RunnerGateway } from '../../src/runs/runner/runner.ts'
import { type Answer, type Running, running } from '../gateway/running.fixture.ts'
import { freshDatabase } from '../postgres/database.ts'

export const bothDatabases = ['SQLite', 'PostgreSQL'] as const
export type DatabaseKind = (typeof bothDatabases)[number]

/** `npm test` runs on SQLite and `test:long` repeats it on PostgreSQL; a file that is named runs on both. */
export const databases = bothDatabases.filter((kind) => (process.env.DATABASE ?? kind) === kind)

/** A gateway on either database, gone when the test is over. */
export async function runningOn(
  kind: DatabaseKind,
  options: Parameters<typeof running>[0] = {},
): Promise<Running> {
  if (kind === 'SQLite') return running(options)
  const database = await freshDatabase()
  onTestFinished(() => database.drop())
  return running({ ...options, database: database.url })
}

const main = join(import.meta.dirname, '../../src/cli/main.ts')

/** Where a gateway is, and how to get in. */
export interface Reachable {
  readonly env?: Readonly<Record<string, string>>
  readonly url: string
  readonly token: string
}

/** A real runner process. */
export interface RunnerProcess {
  kill(): Promise<void>
}

export async function runnerProcess(gateway: Reachable, ...args: readonly string[]): Promise<RunnerProcess> {
  const runner = await spawnRunner(gateway, ...args)
  onTestFinished(runner.kill)
  return runner
}

/** The runner of `hookhelm runner` in this process: most tests need no process that can be killed, and it starts at once. */
export async function localRunner(
  gateway: Reachable,
  concurrency = 4,
  wrap: (gateway: RunnerGateway) => RunnerGateway = (same) => same,
): Promise<void> {
  const registered = Promise.withResolvers<void>()
  const log: Log = (name) => {
    if (name === 'runner.registered') registered.resolve()
  }
  const client = createClient({ url: gateway.url, token: gateway.token })
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...gateway.env }
  const { means, dispose } = createRunnerMeans({
    ...{ env, client, log, cwd: process.cwd(), folders: () => [tmpdir()] },
  })
  const runner = new Runner({
    gateway: wrap(runnerGateway(client)),
    offer: {
      ...{ hostname: 'here', project_dir: '', executor_profile: '', executor_type: 'command' },
      ...{ tags: [], require_matching_tags: false },
    },
    ...means,
    concurrency,
  })
  onTestFinished(async () => {
    await runner.stop()
    await dispose()
    await client.close()
  })
  await Promise.race([registered.promise, runner.ended])
}

/** A runner process for all tests of a file. */
export function sharedRunnerProcess(gateway: () => Reachable, ...args: readonly string[]): void {
  let runner: RunnerProcess | undefined
  beforeAll(async () => {
    runner = await spawnRunner(gateway(), ...args)
  })
  afterAll(() => runner?.kill())
}

async function spawnRunner(
  { url, token, env = {} }: Reachable,
  ...args: readonly string[]
): Promise<RunnerProcess> {
  const child = spawn(process.execPath, [main, 'runner', '--folders', tmpdir(), ...args], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOME: process.env.HOME,
      HOOKHELM_URL: url,
      HOOKHELM_TOKEN: token,
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'exit')
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  await untilLine(child, 'runner.registered').catch(async (thrown) => {
    await kill()
    throw thrown
  })
  return { kill }
}

/** Resolves with the first line on stderr that contains the text. */
function untilLine(child: ChildProcess, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    if (child.stderr === null) throw new Error('stderr is not piped')
    let seen = ''
    createInterface({ input: child.stderr }).on('line', (line) => {
      seen += `${line}\n`
      if (line.includes(text)) resolve()
    })
    child.once('exit', (code) => reject(new Error(`ended with ${code} before ${text}: ${seen}`)))
  })
}

/** The command of an agent: `body` is JavaScript that has the parameters in `p` and returns the result. */
export function commandOf(body: string): readonly string[] {
  const script = `let s='';process.stdin.on('data',d=>s+=d).on('end',async()=>{
    const p=JSON.parse(s);const wait=ms=>new Promise(r=>setTimeout(r,ms));
    const answer=await(async()=>{${body}})();
    process.stdout.write(typeof answer==='string'?answer:JSON.stringify(answer))})`
  return [process.execPath, '-e', script]
}

/** JavaScript of an agent that notes its process id, and goes on when a file appears. */
export const waitForFile = `const fs=require('fs');fs.writeFileSync(p.pid,String(process.pid));
  while(!fs.existsSync(p.go))await wait(20);`

type Fields = Readonly<Record<string, unknown>>

/** The API of runs, as its callers use it. */
export function runsOf(gateway: Pick<Running, 'call'>) {
  const ok = async (verb: string, path: string, body?: unknown): Promise<Answer['body']> => {
    const answer = await gateway.call(verb, path, body)
    expect([verb, path, answer.status, answer.body]).toEqual([
      ...[verb, path],
      expect.toSatisfy((status) => status < 300),
      answer.body,
    ])
    return answer.body
  }
  return {
    ok,
    agent: (name: string, body: string, more: Fields = {}) =>
      ok('POST', '/agents', {
        ...{ name, type: 'procedural', executor: { command: commandOf(body) } },
        ...more,
      }),
    start: (agent_name: string, parameters: Fields = {}, more: Fields = {}) =>
      ok('POST', '/runs', { agent_name, parameters, ...more }),
    run: async (id: string) => (await ok('GET', `/runs/${id}`)).run,
    events: async (session: string): Promise<Answer['body'][]> =>
      (await ok('GET', `/sessions/${session}/events?limit=200`)).events,
    result: (session: string) => ok('GET', `/v1/run-sessions/${session}/result`),
  }
}

const ends = ['completed', 'failed', 'stopped']

/** The run when it has ended. */
export function untilEnded(gateway: Pick<Running, 'call' | 'until'>, runId: string): Promise<Answer['body']> {
  const { run } = runsOf(gateway)
  return gateway.until(
    () => run(runId),
    ({ status }) => ends.includes(status),
  )
}
