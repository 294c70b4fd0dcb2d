import { describe, expect, test } from 'vitest'
import { addContext, allow, ask, block, createHooks } from '../../index.ts'

const bash = { tool_name: 'Bash', tool_input: { command: 'ls' } }

function gate(...answers: (() => unknown)[]) {
  const hooks = createHooks()
  const ran: number[] = []
  answers.forEach((answer, i) => {
    hooks.on('pre_tool_use', { id: `h${i}` }, () => {
      ran.push(i)
      return answer() as never
    })
  })
  return { decide: () => hooks.dispatch('pre_tool_use', bash), ran }
}

describe('one after the other, the strictest wins', () => {
  test('GC-26 the first block stops the chain: later hooks are not called', async () => {
    const { decide, ran } = gate(
      () => allow(),
      async () => block('rm'),
      () => block('later'),
    )
    expect(await decide()).toMatchObject({ kind: 'block', reason: 'rm', by: 'h1' })
    expect(ran).toEqual([0, 1])
  })

  test('a hook is called only when the one before it has answered', async () => {
    const log: string[] = []
    const hooks = createHooks()
    for (const id of ['a', 'b'])
      hooks.on('pre_tool_use', async () => {
        log.push(`${id} begins`)
        await null
        log.push(`${id} ends`)
      })
    await hooks.dispatch('pre_tool_use', bash)
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends'])
  })

  test('GC-3 ask stands over allow, whoever comes later', async () => {
    const { decide, ran } = gate(
      () => ask('sure?'),
      () => allow(),
      () => ask('really?'),
    )
    expect(await decide()).toEqual({ kind: 'ask', reason: 'sure?', message: 'sure?', by: 'h0' })
    expect(ran).toEqual([0, 1, 2])
  })

  test('GC-3 a block stands over an ask before it', async () => {
    const { decide } = gate(
      () => ask('sure?'),
      () => block('no'),
    )
    expect(await decide()).toMatchObject({ kind: 'block', reason: 'no', by: 'h1' })
  })
})

describe('allow means no objection', () => {
  test('nothing returned, at once or later, is an allow', async () => {
    const { decide } = gate(
      () => undefined,
      async () => undefined,
    )
    expect(await decide()).toEqual({ kind: 'allow' })
  })

  test('only grant: true grants, and only while nobody is stricter', async () => {
    expect(await gate(() => allow()).decide()).not.toHaveProperty('grant')
    expect(await gate(() => allow({ grant: true })).decide()).toEqual({ kind: 'allow', grant: true })
    const asked = await gate(
      () => allow({ grant: true }),
      () => ask('sure?'),
    ).decide()
    expect(asked).not.toHaveProperty('grant')
  })

  test.each([
    { kind: 'ask', reason: 'x', grant: true },
    { kind: 'block', reason: 'x', grant: true },
    { kind: 'allow', grant: false },
    { kind: 'allow', grant: 'yes' },
  ])('%o cannot grant', async (answer) => {
    expect(await gate(() => answer).decide()).toMatchObject({ kind: 'block', code: 'handler.result' })
  })
})

describe('what is said', () => {
  test('the message is the reason unless the hook gives one', async () => {
    expect(await gate(() => block('list 7')).decide()).toMatchObject({ reason: 'list 7', message: 'list 7' })
    expect(await gate(() => block('list 7', 'Not allowed here.')).decide()).toMatchObject({
      reason: 'list 7',
      message: 'Not allowed here.',
    })
  })

  test('context of all hooks comes together in order, and is dropped by a block', async () => {
    const one = () => addContext('a', 'b')
    const two = () => ({ kind: 'ask', reason: 'r', context: 'c' })
    expect(await gate(one, two).decide()).toMatchObject({ kind: 'ask', context: ['a', 'b', 'c'] })
    expect(await gate(one, () => block('no')).decide()).not.toHaveProperty('context')
  })

  test('empty context is none', async () => {
    expect(
      await gate(
        () => addContext(),
        () => addContext(''),
      ).decide(),
    ).not.toHaveProperty('context')
  })

  test('a decision of a hook carries no code: codes are for failures', async () => {
    expect(await gate(() => block('no')).decide()).not.toHaveProperty('code')
  })
})

test('what a hook is told about the moment', async () => {
  const hooks = createHooks()
  const seen: unknown[] = []
  hooks.on('pre_tool_use', (payload, context) => {
    const { event, id, time, depth, envelope, original, signal } = context
    seen.push(payload, event, id, time, depth, envelope.session, original, signal.aborted)
  })
  await hooks.dispatch('pre_tool_use', bash, { id: 'e1', time: 5, depth: 2, session: 's' })
  expect(seen).toEqual([bash, 'pre_tool_use', 'e1', 5, 2, 's', bash, false])
})

test('all hooks of one dispatch see the same id, and the next one another', async () => {
  const hooks = createHooks()
  const ids: string[] = []
  hooks.on('pre_tool_use', (_, { id }) => void ids.push(id))
  hooks.on('pre_tool_use', async (_, { id }) => void ids.push(id))
  await hooks.dispatch('pre_tool_use', bash)
  await hooks.dispatch('pre_tool_use', bash)
  expect(ids[0]).toBe(ids[1])
  expect(ids[2]).toBe(ids[3])
  expect(ids[0]).not.toBe(ids[2])
})
