import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Running, running } from '../gateway/running.fixture.ts'
import { freshDatabase } from '../postgres/database.ts'
import { projectFolder } from './executors.fixture.ts'
import { commandOf, runnerProcess, runsOf, untilEnded } from './runs.fixture.ts'

const HANG = 240_000
const main = join(import.meta.dirname, '../../src/cli/main.ts')

type Fields = Readonly<Record<string, unknown>>
const greeter = (greeting: string, more: Fields = {}): Fields => ({
  ...{ name: 'greeter', type: 'procedural', description: greeting },
  executor: { command: commandOf(`return { said: '${greeting}' }`) },
  ...more,
})

/** Writes an agent file below a hook folder and returns its path. */
function writeAgent(folder: string, name: string, content: unknown): string {
  const path = join(folder, 'agents', name, 'agent.json')
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, undefined, 2))
  return path
}

const shown = (gateway: Running, name = 'greeter') => gateway.call('GET', `/agents/${name}`)
const untilDescribed = (gateway: Running, description: string) =>
  gateway.until(
    () => shown(gateway),
    ({ body }) => body.blueprint?.definition.description === description,
  )
const untilGone = (gateway: Running) =>
  gateway.until(
    () => shown(gateway),
    ({ status }) => status === 404,
  )
async function fileStatus(gateway: Running): Promise<{ state: string; text: string }> {
  const { body } = await gateway.call('GET', '/v1/status')
  return body.lines.find(({ name }: { name: string }) => name === 'agent files')
}
const untilStatus = (gateway: Running, text: RegExp) =>
  gateway.until(
    () => fileStatus(gateway),
    (part) => text.test(part.text),
  )

function hookhelm(home: string, cwd: string, ...args: readonly string[]) {
  const env = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    HOME: home,
    HOOKHELM_HOME: home,
  }
  return spawnSync(process.execPath, [main, ...args], { cwd, env, encoding: 'utf8' })
}

describe('an agent in a file of the user', () => {
  test(
    'runs with its hooks; a changed file is applied, a broken one keeps the last good version, a removed one is gone',
    async () => {
      const home = projectFolder()
      writeAgent(home, 'greeter', greeter('hello'))
      const gateway = await running({ home })
      expect((await shown(gateway)).body.blueprint).toMatchObject({ source: 'file', version: 1 })
      expect(await fileStatus(gateway)).toMatchObject({ state: 'ok', text: '1 in use' })
      await runnerProcess(gateway)
      const { start, result } = runsOf(gateway)
      const first = await start('greeter')
      await untilEnded(gateway, first.run_id)
      expect((await result(first.session_id)).result_data).toEqual({ said: 'hello' })

      const on_run_start = { type: 'agent', agent_name: 'guard', on_error: 'block' }
      const guard = {
        type: 'procedural',
        executor: { command: commandOf('return { action: "block", block_reason: "closed" }') },
      }
      writeAgent(home, 'guard', guard)
      const path = writeAgent(home, 'greeter', greeter('good day', { hooks: { on_run_start } }))
      await untilDescribed(gateway, 'good day')
      const blocked = await start('greeter')
      expect(await untilEnded(gateway, blocked.run_id)).toMatchObject({ block_reason: 'closed' })

      writeFileSync(
        path,
        JSON.stringify(greeter('bad', { hooks: { on_run_strat: on_run_start } }), undefined, 2),
      )
      const broken = await untilStatus(gateway, /greeter/)
      expect(broken).toMatchObject({ state: 'warn' })
      expect(broken.text).toContain(`${path}:`)
      expect(broken.text).toContain('there is no hook point on_run_strat')
      expect(broken.text).toContain('the agent greeter stays as it was')
      expect((await shown(gateway)).body.blueprint.definition.description).toBe('good day')
      expect(await untilEnded(gateway, (await start('greeter')).run_id)).toMatchObject({
        block_reason: 'closed',
      })

      writeFileSync(path, JSON.stringify(greeter('repaired')))
      await untilDescribed(gateway, 'repaired')
      expect(await fileStatus(gateway)).toMatchObject({ state: 'ok', text: '2 in use' })
      rmSync(dirname(path), { recursive: true })
      await untilGone(gateway)
    },
    HANG,
  )

  test('that is broken at the start keeps the version that the gateway last used', async () => {
    const home = projectFolder()
    const path = writeAgent(home, 'greeter', greeter('hello'))
    const before = await running({ home })
    await before.close()
    writeFileSync(path, '{ "name": "greeter", ')
    const gateway = await running({ home })
    expect((await shown(gateway)).body.blueprint.definition.description).toBe('hello')
    expect(await fileStatus(gateway)).toMatchObject({ state: 'warn', text: expect.stringContaining(path) })
    await gateway.close()
    rmSync(path)
    expect((await shown(await running({ home }))).status).toBe(404)
  })

  test('is read-only over the API, and does not replace one that was saved there', async () => {
    const home = projectFolder()
    const gateway = await running({ home })
    const { ok } = runsOf(gateway)
    await ok('POST', '/agents', { ...greeter('saved'), name: 'taken' })
    writeAgent(home, 'greeter', greeter('hello'))
    await untilDescribed(gateway, 'hello')
    for (const [verb, body] of [['PATCH', { description: 'mine' }], ['DELETE']] as const) {
      const { status, body: answer } = await gateway.call(verb, '/agents/greeter', body)
      expect([status, answer.error.message]).toEqual([409, expect.stringContaining('comes from a file')])
    }
    expect((await gateway.call('POST', '/agents', greeter('mine'))).status).toBe(409)
    expect((await shown(gateway)).body.blueprint).toMatchObject({
      source: 'file',
      definition: { description: 'hello' },
    })
    writeAgent(home, 'taken', { ...greeter('from a file'), name: 'taken' })
    await untilStatus(gateway, /taken was saved over the API/)
    expect((await shown(gateway, 'taken')).body.blueprint).toMatchObject({ source: 'stored' })
  })

  test('that refers to a named hook stays a file when the hook changes', async () => {
    const home = projectFolder()
    const gateway = await running({ home })
    const { ok } = runsOf(gateway)
    const definition = { type: 'agent', agent_name: 'x', on_error: 'block' }
    writeAgent(home, 'greeter', greeter('hello', { hooks: { on_run_start: { $ref: 'gate' } } }))
    await untilStatus(gateway, /there is no run hook "gate"/)
    expect((await shown(gateway)).status).toBe(404)
    await ok('POST', '/run-hooks', { name: 'gate', definition })
    // The file need not change again.
    await untilDescribed(gateway, 'hello')
    expect(await fileStatus(gateway)).toMatchObject({ state: 'ok' })
    await ok('PATCH', '/run-hooks/gate', { definition: { ...definition, agent_name: 'y' } })
    expect((await shown(gateway)).body.blueprint).toMatchObject({ source: 'file' })
  })

  test('has no effect in the standard edition', async () => {
    const home = projectFolder()
    writeAgent(home, 'greeter', greeter('hello'))
    const gateway = await running({ home, edition: 'standard' })
    expect((await shown(gateway)).status).toBe(404)
  })
})

describe('an agent in a file of a repository', () => {
  test(
    'exists once it is trusted, as it was trusted, until trust is withdrawn',
    async () => {
      const home = projectFolder()
      const project = projectFolder()
      mkdirSync(join(project, '.git'))
      const path = writeAgent(join(project, '.hookhelm'), 'greeter', greeter('hello'))
      const gateway = await running({ home, cwd: project })
      expect((await shown(gateway)).status).toBe(404)
      expect(await fileStatus(gateway)).toMatchObject({
        state: 'warn',
        text: expect.stringContaining('trust'),
      })

      const trusted = hookhelm(home, project, 'trust')
      expect([trusted.status, trusted.stderr]).toEqual([0, expect.stringContaining('(agent greeter)')])
      await untilDescribed(gateway, 'hello')
      writeFileSync(path, JSON.stringify(greeter('changed by an agent')))
      await untilStatus(gateway, /has changed since you trusted it/)
      expect((await shown(gateway)).body.blueprint.definition.description).toBe('hello')
      expect(hookhelm(home, project, 'trust', '--show').stdout).toContain('+')
      rmSync(join(project, '.hookhelm'), { recursive: true })
      await untilStatus(gateway, /no longer exists/)
      expect((await shown(gateway)).body.blueprint.definition.description).toBe('hello')

      expect(hookhelm(home, project, 'trust', '--revoke').stderr).toContain('no longer trusted')
      await untilGone(gateway)
      expect(await fileStatus(gateway)).toMatchObject({ state: 'ok' })
    },
    HANG,
  )
})

test(
  'trust covers the scripts that the command of an agent names: a changed one is not run',
  async () => {
    const home = projectFolder()
    const project = projectFolder()
    mkdirSync(join(project, '.git'))
    const executor = { command: [process.execPath, 'tools/greet.mjs'] }
    writeAgent(join(project, '.hookhelm'), 'greeter', { type: 'procedural', executor })
    const script = join(project, 'tools/greet.mjs')
    mkdirSync(dirname(script))
    const says = (text: string) => `process.stdout.write(JSON.stringify({ said: '${text}' }))`
    writeFileSync(script, says('hello'))
    expect(hookhelm(home, project, 'trust').stderr).toContain(`trusted script: ${script}`)
    const gateway = await running({ home, cwd: project })
    await runnerProcess(gateway, '--cwd', project)
    const { start, result } = runsOf(gateway)
    const runOnce = async () => {
      const { run_id, session_id } = await start('greeter')
      return { run: await untilEnded(gateway, run_id), result: await result(session_id) }
    }
    expect((await runOnce()).result.result_data).toEqual({ said: 'hello' })
    writeFileSync(script, says('gotcha'))
    expect((await runOnce()).run).toMatchObject({
      ...{ status: 'failed', error: expect.stringContaining('has changed since it was trusted') },
    })
    expect(await fileStatus(gateway)).toMatchObject({ state: 'warn', text: expect.stringContaining(script) })
    expect(hookhelm(home, project, 'trust').stderr).toContain('script changed')
    await untilStatus(gateway, /1 in use/)
    await gateway.until(
      () => shown(gateway),
      ({ body }) => body.blueprint.version === 2,
    )
    expect((await runOnce()).result.result_data).toEqual({ said: 'gotcha' })
  },
  HANG,
)

test('hookhelm validate checks agent files with line and pointer, and warns about keys without effect', () => {
  const home = projectFolder()
  const project = projectFolder()
  mkdirSync(join(project, '.git'))
  const folder = join(project, '.hookhelm')
  const bad = writeAgent(folder, 'bad', {
    ...greeter('x', { name: 'bad' }),
    hooks: { on_run_start: { type: 'agent', agent_name: 'guard', on_error: 'stop' } },
  })
  writeAgent(folder, 'other', greeter('x'))
  writeAgent(folder, 'good', greeter('x', { name: 'good', note: 'kept' }))
  const all = hookhelm(home, project, 'validate')
  expect(all.status).toBe(1)
  expect(all.stdout).toMatch(/bad\/agent\.json:\d+:\d+ \/hooks\/on_run_start\/on_error config\.field/)
  expect(all.stdout).toContain('the agent must have the name of its folder, other')
  expect(all.stderr).toContain('note is kept and has no effect')
  expect(all.stderr).toContain('1 of 3 files are valid')
  expect(hookhelm(home, project, 'validate', bad).status).toBe(1)
  expect(hookhelm(home, project, 'validate', join(folder, 'agents/good/agent.json')).status).toBe(0)
})

test('gateways that share a database each keep the agents of their own files', async () => {
  const database = await freshDatabase()
  onTestFinished(() => database.drop())
  const [ours, theirs] = [projectFolder(), projectFolder()]
  const path = writeAgent(ours, 'greeter', greeter('ours'))
  writeAgent(theirs, 'writer', { ...greeter('theirs'), name: 'writer' })
  const one = await running({ home: ours, database: database.url })
  const two = await running({ home: theirs, database: database.url })
  for (const gateway of [one, two])
    for (const name of ['greeter', 'writer']) expect((await shown(gateway, name)).status).toBe(200)
  // Of two files with one name the first stays, and the other gateway says so.
  writeAgent(theirs, 'greeter', greeter('also theirs'))
  await untilStatus(two, /another gateway of this database has a file of an agent named greeter/)
  expect((await shown(two)).body.blueprint.definition.description).toBe('ours')
  // The gateway that is gone for good takes its files with it.
  await one.close()
  expect((await two.call('DELETE', '/agents/greeter')).status).toBe(409)
  expect((await two.call('DELETE', '/agents/greeter?orphaned=true')).status).toBe(200)
  await untilDescribed(two, 'also theirs')
  rmSync(path)
  const again = await running({ home: ours, database: database.url })
  expect((await shown(again)).body.blueprint.definition.description).toBe('also theirs')
})
