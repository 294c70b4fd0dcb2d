import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readExecutorProfile } from '../../src/runs/runner/executor-profiles.ts'
import { running } from '../gateway/running.fixture.ts'
import { calls, modelScene, projectFolder, says } from './executors.fixture.ts'
import { runnerProcess, runsOf, untilEnded } from './runs.fixture.ts'

const HANG = 240_000
const main = join(import.meta.dirname, '../../src/cli/main.ts')

/** A program that speaks as Claude Code does: it answers with its prompt, and knows which session it continues. */
const standIn = `let s='';process.stdin.on('data',d=>s+=d).on('end',()=>{
  const say=(o)=>console.log(JSON.stringify(o));
  const resumed=process.argv.find(a=>a.startsWith('--resume='));
  require('fs').writeFileSync('started',String(process.pid));
  say({type:'system',subtype:'init',session_id:'own-1'});
  console.log('a line that is not JSON');
  say({type:'assistant',message:{content:[{type:'tool_use',id:'t1',name:'Bash',input:{command:'ls'}}]}});
  say({type:'user',message:{content:[{type:'tool_result',tool_use_id:'t1',content:'a.txt'}]}});
  if (s.includes('sleep')) return setInterval(()=>{},1000);
  if (s.includes('crash')) { console.error('out of memory'); process.exit(7) }
  const json=s.includes('JSON Schema');
  const result=json?'\`\`\`json\\n{"n":3}\\n\`\`\`':(resumed??'new')+' '+s+' '+process.env.HOOKHELM_TOKEN+' '+process.env.GIVEN;
  say({type:'result',subtype:'success',is_error:false,result});
})`
const executor = {
  ...{ type: 'cli', agent: 'claude-code', unconnected: 'allow' },
  ...{ command: [process.execPath, '-e', standIn, '--'], allowed_env_vars: ['GIVEN'] },
}

async function cliScene() {
  const gateway = await running()
  const home = projectFolder()
  const project = join(home, 'project')
  mkdirSync(project)
  const env = { HOME: home, HOOKHELM_HOME: join(home, 'hookhelm'), GIVEN: 'given' }
  await runnerProcess({ ...gateway, env })
  const api = runsOf(gateway)
  return {
    ...{ gateway, project, env },
    ...api,
    save: (name: string, more: object = {}) =>
      api.ok('POST', '/agents', { name, type: 'autonomous', executor, ...more }),
    async finish(name: string, parameters: Readonly<Record<string, unknown>>) {
      const { run_id, session_id } = await api.start(name, parameters, { project_dir: project })
      return { run: await untilEnded(gateway, run_id), session_id }
    },
  }
}

describe('a run of a coding agent', () => {
  test(
    'streams its events, answers with its text or data, and resumes the session of the agent',
    async () => {
      const { gateway, save, finish, ok, result, events } = await cliScene()
      await save('coder')
      const { run, session_id } = await finish('coder', { prompt: 'hello' })
      expect(run).toMatchObject({ status: 'completed', error: null })
      expect((await result(session_id)).result_text).toBe('new hello undefined given')
      expect(await events(session_id)).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ event_type: 'warning', code: 'runs.unconnected' }),
          expect.objectContaining({
            event_type: 'pre_tool',
            tool_name: 'Bash',
            tool_input: { command: 'ls' },
          }),
          expect.objectContaining({ event_type: 'post_tool', tool_output: 'a.txt' }),
        ]),
      )
      const { session } = await ok('GET', `/sessions/${session_id}`)
      expect(session).toMatchObject({ executor_session_id: 'own-1' })
      const resumed = await ok('POST', `/sessions/${session_id}/resume`, { parameters: { prompt: 'more' } })
      expect(await untilEnded(gateway, resumed.run_id)).toMatchObject({ status: 'completed', error: null })
      expect((await result(session_id)).result_text).toBe('--resume=own-1 more undefined given')
      await save('counter', { output_schema: { required: ['n'] } })
      const counted = await finish('counter', { prompt: 'count' })
      expect((await result(counted.session_id)).result_data).toEqual({ n: 3 })
    },
    HANG,
  )

  test(
    'fails with the reason, ends at its time limit, and its whole process group ends when it is stopped',
    async () => {
      const { gateway, project, save, finish, start } = await cliScene()
      await save('coder')
      const { run } = await finish('coder', { prompt: 'crash' })
      expect(run).toMatchObject({
        status: 'failed',
        error: expect.stringMatching(/exit code 7.*out of memory/),
      })
      await save('slow', { executor: { ...executor, timeout_seconds: 1 } })
      expect((await finish('slow', { prompt: 'sleep' })).run).toMatchObject({
        ...{ status: 'failed', error: 'the run took longer than 1 s and was ended' },
      })
      writeFileSync(join(project, 'started'), '')
      const { run_id } = await start('coder', { prompt: 'sleep' }, { project_dir: project })
      const pid = await gateway.until(
        async () => Number(readFileSync(join(project, 'started'), 'utf8')),
        Boolean,
      )
      await gateway.call('POST', `/runs/${run_id}/stop`, {})
      expect(await untilEnded(gateway, run_id)).toMatchObject({ status: 'stopped' })
      expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    },
    HANG,
  )

  test(
    'is refused while the agent is not connected, and starts when it is',
    async () => {
      const { project, env, save, finish, events } = await cliScene()
      await save('coder', { executor: { ...executor, unconnected: 'refuse' } })
      const refused = await finish('coder', { prompt: 'hello' })
      expect(refused.run).toMatchObject({
        ...{ status: 'failed', error: 'claude-code is not connected, so no hook would see its tool calls' },
      })
      expect(existsSync(join(project, 'started'))).toBe(false)
      const connected = spawnSync(process.execPath, [main, 'connect', 'claude-code'], {
        ...{ cwd: project, encoding: 'utf8' as const },
        env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
      })
      expect([connected.status, connected.stderr]).toEqual([0, connected.stderr])
      const { run, session_id } = await finish('coder', { prompt: 'hello' })
      expect(run).toMatchObject({ status: 'completed', error: null })
      expect((await events(session_id)).map(({ event_type }) => event_type)).not.toContain('warning')
    },
    HANG,
  )
})

describe('an executor profile', () => {
  const profilesFile = (text: string) => {
    const file = join(projectFolder(), 'profiles.yaml')
    writeFileSync(file, text)
    return file
  }

  test(
    'in the file of a runner serves blueprints that name it',
    async () => {
      const file = profilesFile('profiles:\n  writers:\n    type: model\n    max_steps: 5\n')
      const { folder, runModel } = await modelScene(
        [calls('Write', { file_path: 'a.txt', content: 'x' }), says('Written.')],
        ['--profile', 'writers', '--profiles', file],
      )
      const { run, result } = await runModel({ executor: { profile: 'writers' }, tools: ['Write'] })
      expect(run).toMatchObject({ status: 'completed', error: null })
      expect(result).toMatchObject({ result_text: 'Written.' })
      expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('x')
    },
    HANG,
  )

  test.each([
    ['is missing', 'profiles: {}', /has no profile "x"/],
    ['has no command', 'profiles: { x: { type: command } }', /executor\.command is required/],
    ['names another', 'profiles: { x: { profile: y } }', /cannot name another/],
    ['has an unknown key', 'profiles: { x: { type: model, colour: red } }', /colour/],
  ])('that %s is refused', (_, text, message) => {
    expect(() => readExecutorProfile(profilesFile(text), 'x')).toThrow(
      expect.objectContaining({ code: 'config.field', message: expect.stringMatching(message) }),
    )
  })
})
