import { describe, expectTypeOf, test } from 'vitest'
import {
  addContext,
  allow,
  ask,
  block,
  check,
  createHooks,
  type Decision,
  defineEvent,
  field,
  type HookContext,
  merge,
  rewrite,
  type Undo,
} from './index.ts'

type Input = Readonly<Record<string, unknown>>
const hooks = createHooks()
const call = { tool_name: 'Bash', tool_input: { command: 'ls' } }

describe('a hook knows its event', () => {
  test('payload and context are inferred from the name', () => {
    hooks.on('pre_tool_use', (payload, context) => {
      expectTypeOf(payload.tool_name).toEqualTypeOf<string>()
      expectTypeOf(payload.tool_input).toEqualTypeOf<Input>()
      expectTypeOf(context).toEqualTypeOf<HookContext>()
    })
    hooks.on('user_prompt_submit', ({ prompt, source }) => {
      expectTypeOf(prompt).toEqualTypeOf<string>()
      expectTypeOf(source).toEqualTypeOf<string | undefined>()
    })
    hooks.on('session_end', {}, async ({ reason }) => {
      expectTypeOf(reason).toEqualTypeOf<string | undefined>()
    })
  })

  test('its undo is a function', () => {
    expectTypeOf(hooks.on('stop', () => {})).toEqualTypeOf<Undo>()
    expectTypeOf<Undo>().toEqualTypeOf<() => void>()
  })

  test('a payload cannot be changed', () => {
    hooks.on('pre_tool_use', (payload) => {
      // @ts-expect-error: events are frozen
      payload.tool_name = 'Read'
      // @ts-expect-error: all the way down
      payload.tool_input.command = 'rm'
    })
  })

  test('an unknown event does not compile', () => {
    // @ts-expect-error: there is no such event
    hooks.on('pre_tool_used', () => {})
    // @ts-expect-error: nor here
    void hooks.dispatch('pre_tool_used', {})
    // @ts-expect-error: nor an alias, which exists at run time only
    hooks.on('PreToolUse', () => {})
  })
})

describe('a gate', () => {
  test('takes every helper, nothing, and promises of them', () => {
    hooks.on('pre_tool_use', () => {})
    hooks.on('pre_tool_use', () => undefined)
    hooks.on('pre_tool_use', () => allow({ grant: true }))
    hooks.on('pre_tool_use', () => ask('sure?', 'May I?'))
    hooks.on('pre_tool_use', async () => block('no'))
    hooks.on('pre_tool_use', async () => rewrite({ command: 'ls -l' }))
    hooks.on('pre_tool_use', () => addContext('a', 'b'))
    hooks.on('pre_tool_use', ({ tool_name }) => (tool_name === 'x' ? block('x') : undefined))
    hooks.on('pre_tool_use', () => ({ kind: 'ask', reason: 'r', input: { a: 1 }, context: 'c' }))
  })

  test('refuses what it could not read', () => {
    // @ts-expect-error: a text is no answer
    hooks.on('pre_tool_use', () => 'block')
    // @ts-expect-error: null is no answer
    hooks.on('pre_tool_use', () => null)
    // @ts-expect-error: nor is a flag
    hooks.on('pre_tool_use', async () => true)
    // @ts-expect-error: there is no such kind
    hooks.on('pre_tool_use', () => ({ kind: 'deny', reason: 'x' }))
    // @ts-expect-error: a block says why
    hooks.on('pre_tool_use', () => ({ kind: 'block' }))
    // @ts-expect-error: nor does it rewrite
    hooks.on('pre_tool_use', () => ({ kind: 'block', reason: 'x', input: {} }))
    // @ts-expect-error: only an allow grants
    hooks.on('pre_tool_use', () => ({ kind: 'ask', reason: 'x', grant: true }))
  })

  test('a patch has the type of what it replaces', () => {
    // @ts-expect-error: the input of a tool is an object
    hooks.on('pre_tool_use', () => rewrite('ls'))
    hooks.on('user_prompt_submit', () => rewrite('better words'))
    // @ts-expect-error: a prompt is text
    hooks.on('user_prompt_submit', () => rewrite({ prompt: 'x' }))
    // @ts-expect-error: stop has no input to rewrite
    hooks.on('stop', () => rewrite({ a: 1 }))
  })

  test('an event whose own field is called message still takes a block in our words', () => {
    hooks.on('before_message_write', () => block('secret', 'Not written.'))
    hooks.on('before_message_write', () => ({ block: true }))
  })
})

describe('the other modes', () => {
  test('an observer may return anything', () => {
    hooks.on('session_end', () => 42)
    hooks.on('session_end', () => null)
    hooks.on('session_end', async () => ['whatever'])
    hooks.on('session_end', (): unknown => undefined)
  })

  test('a claim says whether it handled the event', () => {
    hooks.on('before_dispatch', () => ({ handled: true, text: 'done' }))
    hooks.on('before_dispatch', () => {})
    // @ts-expect-error: without handled it is no claim
    hooks.on('before_dispatch', () => ({ text: 'done' }))
    // @ts-expect-error: handled is a flag
    hooks.on('before_dispatch', () => ({ handled: 'yes' }))
  })

  test('a transform returns its fields or a patch', () => {
    hooks.on('model_request', ({ request }) => rewrite({ ...request, temperature: 0 }))
    hooks.on('before_agent_run', () => ({ outcome: 'pass' }))
    // @ts-expect-error: there is no such outcome
    hooks.on('before_agent_run', () => ({ outcome: 'maybe' }))
  })
})

describe('dispatch', () => {
  test('wants the payload of its event', () => {
    void hooks.dispatch('pre_tool_use', call, { session: 's', depth: 1 }, { trace: true })
    // @ts-expect-error: tool_input is missing
    void hooks.dispatch('pre_tool_use', { tool_name: 'Bash' })
    // @ts-expect-error: tool_input is an object
    void hooks.dispatch('pre_tool_use', { tool_name: 'Bash', tool_input: 'ls' })
    // @ts-expect-error: an envelope has no such field
    void hooks.dispatch('pre_tool_use', call, { sesion: 's' })
  })

  test('answers a decision of its event', () => {
    expectTypeOf(hooks.dispatch('pre_tool_use', call)).resolves.toExtend<Decision<object, Input>>()
    expectTypeOf(hooks.dispatch('pre_tool_use', call))
      .resolves.toHaveProperty('input')
      .toEqualTypeOf<Input | undefined>()
    expectTypeOf(hooks.dispatch('user_prompt_submit', { prompt: '' }))
      .resolves.toHaveProperty('input')
      .toEqualTypeOf<string | undefined>()
    expectTypeOf(hooks.dispatch('stop', {})).resolves.toHaveProperty('input').toEqualTypeOf<undefined>()
    expectTypeOf(hooks.dispatchSync('tool_result_persist', { message: {} as never }).kind).toEqualTypeOf<
      'allow' | 'ask' | 'block'
    >()
  })

  test('a claim tells who has it and what was said', async () => {
    const decision = await hooks.dispatch('before_dispatch', { content: 'x' })
    expectTypeOf(decision.fields?.handled).toEqualTypeOf<boolean | undefined>()
    expectTypeOf(decision.fields?.text).toEqualTypeOf<string | undefined>()
  })
})

describe('events of one’s own', () => {
  const deploy = defineEvent({
    about: 'Before something is deployed.',
    mode: 'gate',
    payload: check.shape({
      service: check.text,
      args: check.record,
      stage: check.optional(check.oneOf('eu', 'us')),
    }),
    rewrites: 'args',
    subject: 'service',
    fields: { window: field(check.number, merge.last), how: field(check.oneOf('slow', 'fast'), merge.first) },
  })
  const own = createHooks({ events: { deploy } })

  test('are inferred like those of the catalogue', () => {
    own.on('deploy', (payload) => {
      expectTypeOf(payload.service).toEqualTypeOf<string>()
      expectTypeOf(payload.stage).toEqualTypeOf<'eu' | 'us' | undefined>()
      return { kind: 'allow', input: { region: 'eu' }, window: 5 }
    })
    own.on('deploy', () => ({ kind: 'allow', window: 3, how: 'slow' }))
    // @ts-expect-error: the window is a number
    own.on('deploy', () => ({ kind: 'allow', window: 'night' }))
    // @ts-expect-error: there is no other way
    own.on('deploy', () => ({ kind: 'allow', how: 'sideways' }))
    const decision = own.dispatch('deploy', { service: 'api', args: {} })
    expectTypeOf(decision)
      .resolves.toHaveProperty('fields')
      .toEqualTypeOf<{ readonly window?: number; readonly how?: 'slow' | 'fast' } | undefined>()
    own.on('pre_tool_use', ({ tool_name }) => void tool_name.length)
  })

  test('are inferred when they are defined inline', async () => {
    const inline = createHooks({
      events: {
        release: defineEvent({
          about: 'Before a release.',
          mode: 'gate',
          payload: check.shape({ service: check.text, args: check.record }),
          rewrites: 'args',
          subject: 'service',
          fields: { window: field(check.number, merge.last) },
        }),
      },
    })
    inline.on('release', ({ service }) => {
      expectTypeOf(service).toEqualTypeOf<string>()
      return { kind: 'block', reason: service }
    })
    const decision = await inline.dispatch('release', { service: 'api', args: {} })
    expectTypeOf(decision.fields?.window).toEqualTypeOf<number | undefined>()
    // @ts-expect-error: the service is text
    void inline.dispatch('release', { service: 5, args: {} })
  })

  test('a gate takes fields without a kind only if it derives a verdict from them', () => {
    const reviewed = { about: 'x', mode: 'gate', payload: check.shape({}) } as const
    const fields = { reviewer: field(check.text, merge.last) }
    const plain = createHooks({ events: { release: defineEvent({ ...reviewed, fields }) } })
    // @ts-expect-error: without a kind the gate would block
    plain.on('release', () => ({ reviewer: 'ada' }))
    // @ts-expect-error: an empty object has no kind either
    plain.on('release', () => ({}))
    plain.on('release', () => ({ kind: 'allow', reviewer: 'ada' }))
    plain.on('release', async () => ({ ...allow(), reviewer: 'ada' }))
    plain.on('release', () => ({ kind: 'block', reason: 'no', reviewer: 'ada' }))
    const verdict = () => undefined
    const derived = createHooks({ events: { release: defineEvent({ ...reviewed, fields, verdict }) } })
    derived.on('release', () => ({ reviewer: 'ada' }))
    const transform = { about: 'x', mode: 'transform', payload: check.shape({}), fields } as const
    createHooks({ events: { release: defineEvent(transform) } }).on('release', () => ({ reviewer: 'ada' }))
  })

  test('are unknown to a set of hooks without them', () => {
    // @ts-expect-error: this set has no such event
    hooks.on('deploy', () => {})
  })

  test('a row can only name keys of its payload', () => {
    const payload = check.shape({ service: check.text })
    // @ts-expect-error: there is nothing called args to rewrite
    defineEvent({ about: 'x', mode: 'gate', payload, rewrites: 'args' })
    // @ts-expect-error: nor to match on
    defineEvent({ about: 'x', mode: 'gate', payload, subject: 'args' })
    // @ts-expect-error: there is no such mode
    defineEvent({ about: 'x', mode: 'filter', payload })
  })
})
