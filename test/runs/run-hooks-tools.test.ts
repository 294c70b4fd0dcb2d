import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { calls, type ModelScene, modelScene, says } from './executors.fixture.ts'
import { hookEventsOf } from './run-hooks.fixture.ts'
import { runnerProcess, runsOf, untilEnded } from './runs.fixture.ts'

const HANG = 120_000
const bash = (command: string) => calls('Bash', { command })
const hook = (agent_name: string, more = {}) => ({ type: 'agent', agent_name, on_error: 'block', ...more })

/** A model that writes a file with its one tool call, and hooks around that call. */
async function toolRun(
  on_tool_call: unknown,
  save: (scene: ModelScene) => Promise<unknown> = async () => {},
) {
  const scene = await modelScene([bash('echo given > out.txt'), says('Done.')])
  await save(scene)
  const ended = await scene.runModel({ tools: ['Bash'], hooks: { on_tool_call } })
  const file = join(scene.folder, 'out.txt')
  return {
    ...{ ...scene, ...ended },
    written: existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined,
    hookEvents: hookEventsOf(ended.events),
    answers: scene.fake.requests.at(-1)?.text ?? '',
  }
}

const agent = (name: string, body: string) => (scene: ModelScene) => runsOf(scene.gateway).agent(name, body)

describe('AO-60 on_tool_call', () => {
  test(
    'lets a tool call of a model pass, with the input of the call',
    async () => {
      const { written, hookEvents, run } = await toolRun(
        hook('look'),
        agent(
          'look',
          'return p.tool_input.command.includes("given") && p.tool_name === "Bash" ? { action: "continue" } : {}',
        ),
      )
      expect([run.status, written]).toEqual(['completed', 'given'])
      const about = { hook_type: 'on_tool_call', target_type: 'agent', target_name: 'look' }
      expect(hookEvents).toMatchObject([
        { event_type: 'hook_start', ...about },
        { event_type: 'hook_complete', ...about, action: 'continue' },
      ])
    },
    HANG,
  )

  test(
    'changes the arguments, and the event has both',
    async () => {
      const { written, hookEvents } = await toolRun(
        hook('change'),
        agent(
          'change',
          'return { action: "continue", parameters: { ...p.tool_input, command: "echo changed > out.txt" } }',
        ),
      )
      expect(written).toBe('changed')
      expect(hookEvents[1]).toMatchObject({
        ...{ changed_fields: ['command'], original: { command: 'echo given > out.txt' } },
        changed: { command: 'echo changed > out.txt' },
      })
    },
    HANG,
  )

  test(
    'blocks the call and not the run, and the model learns why',
    async () => {
      const { written, hookEvents, run, answers } = await toolRun(
        hook('block', { on_error: 'continue' }),
        agent('block', 'return { action: "block", block_reason: "no files today" }'),
      )
      expect([run.status, run.block_reason, written]).toEqual(['completed', null, undefined])
      expect(answers).toContain('no files today')
      expect(hookEvents.at(-1)).toMatchObject({ event_type: 'hook_blocked', block_reason: 'no files today' })
    },
    HANG,
  )

  test.each([
    ['fails', 'process.exit(1)', {}],
    ['takes too long', 'await wait(600000)', { timeout_seconds: 1 }],
  ])(
    'that %s blocks the call, or lets it pass with on_error: continue',
    async (_, body, more) => {
      const closed = await toolRun(hook('broken', more), agent('broken', body))
      expect(closed.written).toBeUndefined()
      const open = await toolRun(hook('broken', { ...more, on_error: 'continue' }), agent('broken', body))
      expect(open.written).toBe('given')
      const ends = [closed, open].map(({ hookEvents }) => hookEvents.at(-1))
      expect(ends).toMatchObject([
        { event_type: 'hook_failed', on_error_behavior: 'block' },
        { event_type: 'hook_failed', on_error_behavior: 'continue' },
      ])
    },
    HANG,
  )

  test(
    'asks anew about every call, and also about the calls of a sub-agent',
    async () => {
      const scene = await modelScene([
        bash('echo one > one.txt'),
        calls('Agent', { prompt: 'Write.', subagent_type: 'scout' }),
        bash('echo two > two.txt'),
        says('The scout is done.'),
        bash('echo three > three.txt'),
        says('Done.'),
      ])
      await runsOf(scene.gateway).agent(
        'not-two',
        'return JSON.stringify(p.tool_input).includes("two.txt") ? { action: "block", block_reason: "not two" } : { action: "continue" }',
      )
      const { run } = await scene.runModel({
        ...{ tools: ['Bash', 'Agent'], hooks: { on_tool_call: hook('not-two') } },
      })
      expect(run.status).toBe('completed')
      const exists = ['one', 'two', 'three'].map((name) => existsSync(join(scene.folder, `${name}.txt`)))
      expect(exists).toEqual([true, false, true])
    },
    HANG,
  )

  test(
    'of one blueprint does not see the calls of another',
    async () => {
      const scene = await modelScene([bash('echo given > out.txt'), says('Done.')])
      const { ok } = runsOf(scene.gateway)
      await runsOf(scene.gateway).agent('block', 'return { action: "block" }')
      await ok('POST', '/agents', {
        ...{ name: 'strict', type: 'autonomous', executor: { type: 'model' }, model: 'claude-x' },
        hooks: { on_tool_call: hook('block') },
      })
      const { run, events } = await scene.runModel({ tools: ['Bash'] })
      expect(run.status).toBe('completed')
      expect(existsSync(join(scene.folder, 'out.txt'))).toBe(true)
      expect(hookEventsOf(events)).toEqual([])
    },
    HANG,
  )

  test(
    'AO-32 of an agent that serves a hook applies to its tools as well, and a circle is cut',
    async () => {
      const scene = await modelScene(
        ({ system }) =>
          system.includes('judge') ? bash('echo judged >> judged.txt') : bash('echo given > out.txt'),
        ['--concurrency', '8'],
      )
      const { ok } = runsOf(scene.gateway)
      const judge = {
        ...{ name: 'judge', type: 'autonomous', executor: { type: 'model', max_steps: 2 } },
        ...{ model: 'claude-x', system_prompt: 'You are the judge.', tools: ['Bash'] },
        hooks: { on_tool_call: hook('judge', { timeout_seconds: 30 }) },
      }
      await ok('POST', '/agents', judge)
      await scene.runModel({
        ...{ tools: ['Bash'], hooks: { on_tool_call: hook('judge', { timeout_seconds: 60 }) } },
        executor: { type: 'model', max_steps: 2 },
      })
      expect(existsSync(join(scene.folder, 'out.txt'))).toBe(false)
      expect(existsSync(join(scene.folder, 'judged.txt'))).toBe(false)
      const { runs } = await ok('GET', '/runs?agent_name=judge&limit=50')
      expect(Math.max(...runs.map(({ depth }: { depth: number }) => depth))).toBe(4)
    },
    HANG,
  )
})

const client = join(import.meta.dirname, '../../src/agents/client/hookhelm-hook.cjs')

/** A program that speaks as Claude Code does, and sends its tool call to the gateway before it makes it. */
const codingAgent = `let s='';process.stdin.on('data',d=>s+=d).on('end',async()=>{
  const say=(o)=>console.log(JSON.stringify(o));
  const [url,token,socket,client]=process.env.GIVEN.split(' ');
  const session_id='own-'+process.pid;
  if (s.includes('at once')) say({type:'system',subtype:'init',session_id});
  const native={hook_event_name:'PreToolUse',session_id,cwd:process.cwd(),tool_name:'Bash',tool_use_id:'t1',tool_input:{command:'ls'}};
  if (s.includes('afterwards')) {
    const words=[client,'claude-code','PreToolUse','--socket',socket];
    const ended=require('node:child_process').spawnSync(process.execPath,words,{input:JSON.stringify(native)});
    say({type:'system',subtype:'init',session_id});
    return say({type:'result',subtype:'success',is_error:false,result:String(ended.stdout)+ended.stderr});
  }
  const asked=fetch(url+'/v1/agents/claude-code/PreToolUse',{method:'POST',body:JSON.stringify(native),
    headers:{authorization:'Bearer '+token,'content-type':'application/json'}});
  if (s.includes('late')) setTimeout(()=>say({type:'system',subtype:'init',session_id}),500);
  const answer=await (await asked).text();
  say({type:'result',subtype:'success',is_error:false,result:answer});
})`

describe('AO-60 on_tool_call of a coding agent', () => {
  test.each(['at once', 'late', 'afterwards, by the proof that its client hands over'])(
    'sees the calls of its runs, also when the session is reported %s, and none of the sessions of people',
    async (when) => {
      const scene = await modelScene([])
      const { gateway } = scene
      const { ok, start, result, events, agent } = runsOf(gateway)
      await runnerProcess(
        { ...gateway, env: { GIVEN: [gateway.url, gateway.token, gateway.socket, client].join(' ') } },
        ...['--tags', 'cli', '--only-tagged'],
      )
      await agent(
        'block',
        'return { action: "block", block_reason: "not " + p.tool_input.command + " by " + p.agent_name }',
      )
      await ok('POST', '/agents', {
        ...{ name: 'coder', type: 'autonomous', demands: { tags: ['cli'] } },
        executor: {
          ...{ type: 'cli', agent: 'claude-code', unconnected: 'allow', allowed_env_vars: ['GIVEN'] },
          command: [process.execPath, '-e', codingAgent, '--'],
        },
        hooks: { on_tool_call: hook('block') },
      })
      // Hooks for the coding agent itself still apply; a shadow hook also runs behind a block.
      await gateway.hook({
        ...{ event: 'pre_tool_use', scope: 'agent', agent_ids: ['claude-code'], shadow: true },
        ...{ handler_type: 'function', config: { name: 'decide' } },
      })
      const { run_id, session_id } = await start('coder', { prompt: when }, { project_dir: scene.folder })
      expect(await untilEnded(gateway, run_id)).toMatchObject({ status: 'completed', error: null })
      expect((await result(session_id)).result_text).toContain('not ls by coder')
      expect(hookEventsOf(await events(session_id))).toMatchObject([
        { event_type: 'hook_start', hook_type: 'on_tool_call', target_name: 'block', run_id },
        { event_type: 'hook_blocked', block_reason: 'not ls by coder' },
      ])
      expect(scene.seen.filter(({ envelope }) => envelope.run === run_id)).toHaveLength(1)
      const person = { hook_event_name: 'PreToolUse', session_id: 'mine', tool_name: 'Bash', tool_input: {} }
      const { status, body } = await gateway.call('POST', '/v1/agents/claude-code/PreToolUse', person)
      expect([status, JSON.stringify(body)]).toEqual([200, expect.not.stringContaining('not ')])
    },
    HANG,
  )
})
