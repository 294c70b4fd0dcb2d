import { describe, expect, test } from 'vitest'
import { allow, block, check, createHooks, defineEvent, field, merge, rewrite } from '../../index.ts'

const { list, number, oneOf, optional, record, shape, text } = check

const deploy = defineEvent({
  about: 'Before something is deployed.',
  mode: 'gate',
  payload: shape({ service: text, args: record, replicas: optional(number) }),
  rewrites: 'args',
  subject: 'service',
  timeoutMs: 200,
})

describe('an event of one’s own is as good as any other', () => {
  test('it blocks, rewrites, matches by its subject and checks its payload', async () => {
    const hooks = createHooks({ events: { deploy } })
    hooks.on('deploy', { matcher: '^api$' }, ({ args }) => rewrite({ ...args, region: 'eu' }))
    hooks.on('deploy', ({ replicas }) => (replicas === 0 ? block('nothing to run') : undefined))
    const api = { service: 'api', args: { a: 1 } }
    expect(await hooks.dispatch('deploy', api)).toMatchObject({ input: { a: 1, region: 'eu' } })
    expect(await hooks.dispatch('deploy', { ...api, service: 'web' })).toEqual({ kind: 'allow' })
    expect(await hooks.dispatch('deploy', { ...api, replicas: 0 })).toMatchObject({ kind: 'block' })
    await expect(hooks.dispatch('deploy', { service: 'api' } as never)).rejects.toMatchObject({
      code: 'input.schema',
      at: 'args',
    })
  })

  test('it stands beside the catalogue', async () => {
    const hooks = createHooks({ events: { deploy } })
    hooks.on('pre_tool_use', () => block('no'))
    const call = { tool_name: 'x', tool_input: {} }
    expect((await hooks.dispatch('pre_tool_use', call)).kind).toBe('block')
  })

  test('a set of hooks without it does not know it', () => {
    expect(() => createHooks().has('deploy' as never)).toThrow(
      expect.objectContaining({ code: 'input.unknown_event' }),
    )
  })
})

describe('its fields are merged by their rules', () => {
  const review = defineEvent({
    about: 'A change is reviewed.',
    mode: 'transform',
    payload: shape({ change: text }),
    subject: 'change',
    fields: {
      owner: field(text, merge.first),
      label: field(text, merge.last),
      urgent: field(check.flag, merge.sticky),
      findings: field(list<string>(), merge.concat),
      note: field(text, merge.join),
      tools: field(list<string>(), merge.intersect),
      env: field(record, merge.spread),
      verdict: field(check.object<{ kind: 'allow' | 'ask' | 'block' }>(), merge.strictest),
    },
  })

  test('each in its own way, in the order of the hooks', async () => {
    const hooks = createHooks({ events: { review } })
    hooks.on('review', async () => ({
      owner: 'ann',
      label: 'a',
      urgent: true,
      findings: ['1'],
      note: 'one',
      tools: ['lint', 'test'],
      env: { A: '1', B: '1' },
      verdict: { kind: 'ask' },
    }))
    hooks.on('review', () => {})
    hooks.on('review', () => ({
      owner: 'bob',
      label: 'b',
      urgent: false,
      findings: ['2', '3'],
      note: 'two',
      tools: ['test', 'deploy'],
      env: { B: '2' },
      verdict: { kind: 'allow' },
    }))
    const { fields } = await hooks.dispatch('review', { change: 'x' })
    expect(fields).toEqual({
      owner: 'ann',
      label: 'b',
      urgent: true,
      findings: ['1', '2', '3'],
      note: 'one\n\ntwo',
      tools: ['test'],
      env: { A: '1', B: '2' },
      verdict: { kind: 'ask' },
    })
  })

  test('a field nobody mentioned is not there', async () => {
    const hooks = createHooks({ events: { review } })
    hooks.on('review', () => ({ label: 'a' }))
    const { fields } = await hooks.dispatch('review', { change: 'x' })
    expect(fields?.label).toBe('a')
    expect(Object.keys(fields ?? {})).toEqual(['label'])
  })

  test('a wrong or unknown field makes the whole answer invalid', async () => {
    const hooks = createHooks({ events: { review } })
    hooks.on('review', () => ({ label: 'good', owner: 42 }) as never)
    hooks.on('review', () => ({ label: 'good', labels: [] }) as never)
    hooks.on('review', () => ({ note: 'fine' }))
    expect((await hooks.dispatch('review', { change: 'x' })).fields).toMatchObject({ note: 'fine' })
    expect((await hooks.dispatch('review', { change: 'x' })).fields).not.toHaveProperty('label')
  })

  test.each<[string, () => unknown]>([
    ['at once', () => angryFields()],
    ['later', async () => angryFields()],
  ])('a field that throws while it is merged is contained: %s', async (_, answer) => {
    const hooks = createHooks({ events: { review } })
    hooks.on('review', answer as never)
    hooks.on('review', () => ({ note: 'fine' }))
    const { fields } = await hooks.dispatch('review', { change: 'x' })
    expect(fields).toMatchObject({ note: 'fine' })
  })
})

describe('its own result shape can decide', () => {
  const publish = defineEvent({
    about: 'Before something is published.',
    mode: 'gate',
    payload: shape({ what: text }),
    subject: 'what',
    fields: { verdict: field(oneOf('yes', 'no', 'hm'), merge.last) },
    verdict: ({ verdict }) => {
      if (verdict === 'hm') return 'invalid'
      return verdict === 'no' ? { kind: 'block', reason: 'said no' } : undefined
    },
  })

  test.each<[unknown, object]>([
    [{ verdict: 'yes' }, { kind: 'allow', fields: { verdict: 'yes' } }],
    [{ verdict: 'no' }, { kind: 'block', reason: 'said no' }],
    [{ verdict: 'hm' }, { kind: 'block', code: 'handler.result' }],
    [{ verdict: 'other' }, { kind: 'block', code: 'handler.result' }],
    [block('our words'), { kind: 'block', reason: 'our words' }],
    [allow(), { kind: 'allow' }],
  ])('%o → %o', async (answer, decision) => {
    const hooks = createHooks({ events: { publish } })
    hooks.on('publish', () => answer as never)
    expect(await hooks.dispatch('publish', { what: 'x' })).toMatchObject(decision)
  })
})

test('the cap on blocks in a row is a property of the event', async () => {
  const nag = defineEvent({ about: 'x', mode: 'gate', payload: check.record, maxBlocksInARow: 2 })
  const hooks = createHooks({ events: { nag } })
  hooks.on('nag', () => block('again'))
  const kinds: string[] = []
  for (let i = 0; i < 3; i++) kinds.push((await hooks.dispatch('nag', {}, { session: 's' })).kind)
  expect(kinds).toEqual(['block', 'block', 'allow'])
})

function angryFields(): object {
  const env = Object.defineProperty({}, 'A', {
    enumerable: true,
    get() {
      throw new Error('no')
    },
  })
  return { env }
}
