import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { FakeRequest } from '../../src/testing/index.ts'
import { running } from '../gateway/running.fixture.ts'
import { calls, modelScene, says } from './executors.fixture.ts'
import { runnerProcess, runsOf, untilEnded } from './runs.fixture.ts'

const HANG = 240_000

/** Resumes a session and waits for the end of the run. */
async function resume(gateway: Awaited<ReturnType<typeof running>>, session: unknown, parameters: object) {
  const { run_id } = await runsOf(gateway).ok('POST', `/sessions/${session}/resume`, { parameters })
  return untilEnded(gateway, run_id)
}

describe('a session of a model', () => {
  test(
    'is resumed with all that it said, called and saw, by another runner',
    async () => {
      const script = [
        calls('Read', { file_path: 'note.txt' }),
        says('The word is plum.'),
        says('It was plum.'),
        says('Still plum.'),
      ]
      const { gateway, runner, fake, folder, seen, runModel } = await modelScene(script, [])
      writeFileSync(join(folder, 'note.txt'), 'plum')
      const { run, events } = await runModel({ tools: ['Read'] }, { prompt: 'Read the note.' })
      expect(run).toMatchObject({ status: 'completed', error: null })
      // What a model needs to be resumed is no progress.
      expect(events.map(({ event_type }) => event_type)).not.toContain('messages')
      await runner?.kill()
      await runnerProcess({
        ...gateway,
        env: {
          ...{ ANTHROPIC_BASE_URL: fake.url('anthropic'), ANTHROPIC_API_KEY: 'key' },
          HOOKHELM_OUTBOUND_ALLOW: '127.0.0.1',
        },
      })
      const again = await resume(gateway, run.session_id, { prompt: 'Which word was it?' })
      expect(again).toMatchObject({ status: 'completed', error: null, type: 'resume_session' })
      const { result } = runsOf(gateway)
      expect(await result(String(run.session_id))).toMatchObject({ result_text: 'It was plum.' })
      const text = fake.requests[2]?.text ?? ''
      for (const part of ['Read the note.', 'note.txt', 'plum', 'The word is plum.', 'Which word was it?'])
        expect(text).toContain(part)
      const starts = seen
        .filter(({ event }) => event === 'session_start')
        .map(({ payload }) => payload.source)
      expect(starts).toEqual(['startup', 'resume'])
      const prompts = seen.filter(({ event }) => event === 'user_prompt_submit')
      expect(prompts.map(({ payload }) => payload.prompt)).toEqual(['Read the note.', 'Which word was it?'])
      await resume(gateway, run.session_id, { prompt: 'And now?' })
      expect(fake.requests[3]?.text).toContain('It was plum.')
    },
    HANG,
  )

  test(
    'remembers a prompt as the hooks changed it, and never one that they blocked',
    async () => {
      const { gateway, fake, decisions, runModel } = await modelScene([
        says('Noted.'),
        says('Done.'),
        says('Fine.'),
      ])
      decisions.user_prompt_submit = ({ prompt }) => {
        if (prompt.includes('forbidden')) return { kind: 'block', reason: 'not this' }
        return { kind: 'allow', input: prompt.replace('s3cret', '[redacted]'), context: 'be brief' }
      }
      const { run } = await runModel({}, { prompt: 'The key is s3cret.' })
      expect(run).toMatchObject({ status: 'completed', error: null })
      const blocked = await resume(gateway, run.session_id, { prompt: 'something forbidden' })
      expect(blocked).toMatchObject({ status: 'failed', error: expect.stringContaining('not this') })
      const again = await resume(gateway, run.session_id, { prompt: 'Go on.' })
      expect(again).toMatchObject({ status: 'completed', error: null })
      const last = fake.requests.at(-1)?.text ?? ''
      expect(last).toContain('The key is [redacted].')
      expect(last).not.toContain('s3cret')
      expect(last).not.toContain('forbidden')
    },
    HANG,
  )

  test(
    'gets the result of a child that calls back',
    async () => {
      const { gateway, fake, runModel } = await modelScene([
        says('I wait for the child.'),
        says('The child says 42.'),
      ])
      const { run } = await runModel({}, { prompt: 'Start.' })
      const { agent, start, result } = runsOf(gateway)
      await agent('child', 'return { answer: 42 }')
      const more = { parent_session_id: run.session_id, execution_mode: 'async_callback' }
      await start('child', {}, more)
      await gateway.until(
        () => result(String(run.session_id)),
        ({ result_text }) => result_text === 'The child says 42.',
      )
      const text = fake.requests.at(-1)?.text ?? ''
      expect(text).toContain('I wait for the child.')
      expect(text).toMatch(/callback.*answer.*42/)
    },
    HANG,
  )

  test(
    'continues after a run that failed in the middle, with the steps that it made',
    async () => {
      const { gateway, fake, runModel } = await modelScene([
        calls('Bash', { command: 'echo first step' }),
        { status: 500 },
        says('Recovered.'),
      ])
      const { run } = await runModel({ tools: ['Bash'] }, { prompt: 'Work.' })
      expect(run).toMatchObject({ status: 'failed' })
      const again = await resume(gateway, run.session_id, { prompt: 'Try again.' })
      expect(again).toMatchObject({ status: 'completed', error: null })
      expect(fake.requests.at(-1)?.text).toContain('first step')
    },
    HANG,
  )
})

/** A program that speaks as Claude Code or as Codex does, and answers with its arguments and its prompt. */
const standIn = `let s='';process.stdin.on('data',d=>s+=d).on('end',()=>{
  const say=(o)=>console.log(JSON.stringify(o));
  const result=process.argv.slice(1).filter(a=>/resume|own-/.test(a)).join(' ')+' | '+s;
  if (process.argv.includes('exec')) {
    say({type:'thread.started',thread_id:'own-2'});
    say({type:'item.completed',item:{type:'agent_message',id:'1',text:result}});
    return say({type:'turn.completed'});
  }
  say({type:'system',subtype:'init',session_id:'own-1'});
  say({type:'result',subtype:'success',is_error:false,result});
})`

test.each([
  ['claude-code', '--resume=own-1 | '],
  ['codex', 'resume own-2 | '],
])(
  'a session of %s is resumed by its own id, and so is one whose child calls back',
  async (name, resumed) => {
    const gateway = await running()
    await runnerProcess(gateway)
    const { ok, agent, start, result } = runsOf(gateway)
    const executor = {
      ...{ type: 'cli', agent: name, unconnected: 'allow' },
      command: [process.execPath, '-e', standIn, '--'],
    }
    await ok('POST', '/agents', { name: 'coder', type: 'autonomous', executor })
    await agent('child', 'return { answer: 42 }')
    const { run_id, session_id } = await start('coder', { prompt: 'hello' })
    expect(await untilEnded(gateway, run_id)).toMatchObject({ status: 'completed', error: null })
    expect((await result(session_id)).result_text).toBe(' | hello')
    await resume(gateway, session_id, { prompt: 'more' })
    expect((await result(session_id)).result_text).toBe(`${resumed}more`)
    await start('child', {}, { parent_session_id: session_id, execution_mode: 'async_callback' })
    const answered = await gateway.until(
      () => result(session_id),
      ({ result_text }) => /callback.*answer.*42/.test(result_text ?? ''),
    )
    expect(answered.result_text).toContain(resumed)
  },
  HANG,
)

test(
  'the parameters of a resume are a prompt, or fit the schema of the agent',
  async () => {
    const gateway = await running()
    await runnerProcess(gateway)
    const { agent, start } = runsOf(gateway)
    const parameters_schema = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } }
    await agent('talks', 'return "yes"', { type: 'autonomous', parameters_schema })
    await agent('counts', 'return {}', { parameters_schema })
    const sessionOf = async (name: string) => {
      const { run_id, session_id } = await start(name, { id: 'a' })
      await untilEnded(gateway, run_id)
      return session_id
    }
    const statusOf = async (session: string, parameters: object) => {
      const answer = await gateway.call('POST', `/sessions/${session}/resume`, { parameters })
      if (answer.status === 201) await untilEnded(gateway, answer.body.run_id)
      return [answer.status, answer.body.error?.details.validation_errors?.[0]?.path]
    }
    const talks = await sessionOf('talks')
    expect(await statusOf(talks, { prompt: 'more' })).toEqual([201, undefined])
    expect(await statusOf(talks, { id: 'b' })).toEqual([201, undefined])
    expect(await statusOf(talks, {})).toEqual([400, '/prompt'])
    expect(await statusOf(talks, { prompt: ' ' })).toEqual([400, '/prompt'])
    expect(await statusOf(talks, { id: 7 })).toEqual([400, '/id'])
    const counts = await sessionOf('counts')
    expect(await statusOf(counts, { prompt: 'more' })).toEqual([400, ''])
    expect(await statusOf(counts, { id: 'b' })).toEqual([201, undefined])
  },
  HANG,
)

describe('compaction', () => {
  const isSummary = ({ system }: FakeRequest) => system.includes('compact the conversation')
  const big = 'x'.repeat(6_000)
  /** Reads a large file four times, and answers when it has read enough. */
  const reader = () => {
    let reads = 0
    return (request: FakeRequest) => {
      if (isSummary(request)) return says('The file big.txt holds only the letter x.')
      return ++reads > 4 ? says('Enough.') : calls('Read', { file_path: 'big.txt' })
    }
  }
  const executor = { type: 'model', compact_at_tokens: 4_000 }

  test(
    'replaces older messages with a summary of the model, and a resume begins from it',
    async () => {
      const { gateway, fake, folder, seen, decisions, runModel } = await modelScene(reader())
      writeFileSync(join(folder, 'big.txt'), big)
      decisions.pre_compact = () => ({ kind: 'allow', context: 'Keep every file name.' })
      const { run, events } = await runModel({ executor, tools: ['Read'] }, { prompt: 'Study the file.' })
      expect(run).toMatchObject({ status: 'completed', error: null })
      const [asked] = fake.requests.filter(isSummary)
      expect(asked?.system).toContain('Keep every file name.')
      expect(asked?.user).toContain('Study the file.')
      const compacted = events.find(({ event_type }) => event_type === 'compacted')
      expect(compacted).toMatchObject({ summary: 'The file big.txt holds only the letter x.' })
      expect(Number(compacted?.tokens_after)).toBeLessThan(Number(compacted?.tokens_before))
      const next = fake.requests[fake.requests.findIndex(isSummary) + 1]
      expect(next?.text).toContain('holds only the letter x')
      expect(next?.text).toContain('The task as it was given:\\nStudy the file.')
      expect(seen.find(({ event }) => event === 'post_compact')?.payload).toMatchObject({
        compact_summary: 'The file big.txt holds only the letter x.',
      })
      // The hooks see the request for the summary, and it is no prompt of the user.
      const prompts = seen.filter(({ event }) => event === 'user_prompt_submit')
      expect(prompts.map(({ payload }) => payload.prompt)).toEqual(['Study the file.'])
      expect(seen.filter(({ event }) => event === 'model_request')).toHaveLength(fake.requests.length)
      const summaries = fake.requests.filter(isSummary).length
      await resume(gateway, run.session_id, { prompt: 'What was it?' })
      const last = fake.requests.at(-1)?.text ?? ''
      expect(last).toContain('holds only the letter x')
      expect(last.split(big).length - 1).toBeLessThan(4)
      expect(fake.requests.filter(isSummary)).toHaveLength(summaries)
    },
    HANG,
  )

  test(
    'does not happen if a pre_compact hook blocks it, or if the summary fails',
    async () => {
      const answer = reader()
      const { fake, folder, decisions, runModel } = await modelScene((request) =>
        isSummary(request) ? { status: 500 } : answer(request),
      )
      writeFileSync(join(folder, 'big.txt'), big)
      let count = 0
      decisions.pre_compact = () => (count++ === 0 ? { kind: 'block', reason: 'not yet' } : undefined)
      const { run, events } = await runModel({ executor, tools: ['Read'] })
      expect(run).toMatchObject({ status: 'completed', error: null })
      const types = events.map(({ event_type }) => event_type)
      expect(types).toContain('compaction_blocked')
      expect(types).toContain('compaction_failed')
      expect(types).not.toContain('compacted')
      expect(fake.requests.at(-1)?.text.split(big)).toHaveLength(5)
    },
    HANG,
  )
})

test(
  'the tokens of a model run count, and a budget that is spent ends it before its next step',
  async () => {
    const { gateway, fake, runModel } = await modelScene([
      { ...calls('Bash', { command: 'true' }), usage: { input: 400, output: 100 } },
      { ...calls('Bash', { command: 'true' }), usage: { input: 400, output: 200 } },
      says('never'),
    ])
    const { ok } = runsOf(gateway)
    await ok('PUT', '/v1/budget', { total: 1_000 })
    const { run } = await runModel({ tools: ['Bash'] })
    expect(run).toMatchObject({ status: 'failed', error: expect.stringContaining('token budget exceeded') })
    expect(fake.requests).toHaveLength(2)
    expect((await ok('GET', '/v1/budget')).budget.remaining).toBe(-100)
  },
  HANG,
)
