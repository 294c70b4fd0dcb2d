import Emittery from 'emittery'
import { createHooks as createHookable } from 'hookable'
import { AsyncSeriesHook } from 'tapable'
import { createHooks, type Hooks } from '../src/index.ts'
import { type Figure, faster, ratio } from './figure.ts'
import { race } from './measure.ts'

const payload = { tool_name: 'Bash', tool_input: { command: 'ls -la' } }
/** A fresh function each time, so that ours and theirs call equally many different ones. */
const newHandler = () => async (_call: unknown) => undefined
const handler = newHandler()

/** Hooks on one event, of which the first few match; with a timeout, policies and a sink, as in real use. */
function registered(count: number, matching: number): Hooks {
  const hooks = createHooks({ sink: { record() {} } })
  for (let i = 0; i < count; i++) {
    const matcher = i < matching ? '^Bash$' : `^tool_${i}$`
    hooks.on('pre_tool_use', { matcher, timeout_ms: 15_000, on_error: 'block' }, newHandler())
  }
  return hooks
}

/** What a peer without matchers does: every handler asks for itself. */
function asking(i: number): (call: typeof payload) => Promise<undefined> {
  const pattern = i === 0 ? /^Bash$/ : new RegExp(`^tool_${i}$`)
  return async (call) => (pattern.test(call.tool_name) ? handler(call) : undefined)
}

function tapable(count: number): AsyncSeriesHook<[typeof payload]> {
  const hook = new AsyncSeriesHook<[typeof payload]>(['call'])
  for (let i = 0; i < count; i++) hook.tapPromise(`hook ${i}`, count === 1 ? handler : asking(i))
  return hook
}

function hookable(count: number) {
  const hooks = createHookable<{ call: (call: typeof payload) => Promise<undefined> }>()
  for (let i = 0; i < count; i++) hooks.hook('call', count === 1 ? handler : asking(i))
  return hooks
}

function emittery(count: number) {
  const emitter = new Emittery<{ call: typeof payload }>()
  for (let i = 0; i < count; i++) {
    const ask = asking(i)
    emitter.on('call', async ({ data }) => {
      await (count === 1 ? handler(data) : ask(data))
    })
  }
  return emitter
}

export async function dispatchFigures(): Promise<Figure[]> {
  const one = registered(1, 1)
  const ten = registered(10, 1)
  const thousand = registered(1_000, 1)
  const tenOfThousand = registered(1_000, 10)
  const handlers = Array.from({ length: 10 }, newHandler)
  const peers = { tapable: tapable(1), hookable: hookable(1), emittery: emittery(1) }
  const crowd = { tapable: tapable(1_000), hookable: hookable(1_000) }
  const loop = async () => {
    for (const run of handlers) await run(payload)
  }
  const t = await race({
    bare: () => handler(payload),
    loop,
    one: () => one.dispatch('pre_tool_use', payload),
    ten: () => ten.dispatch('pre_tool_use', payload),
    thousand: () => thousand.dispatch('pre_tool_use', payload),
    tenOfThousand: () => tenOfThousand.dispatch('pre_tool_use', payload),
    fresh: () => thousand.dispatch('pre_tool_use', { tool_name: 'Bash', tool_input: { command: 'ls -la' } }),
    envelope: () =>
      thousand.dispatch('pre_tool_use', payload, { session: 's1', agent: 'claude', turn: 't1' }),
    tapable: () => peers.tapable.promise(payload),
    hookable: () => peers.hookable.callHook('call', payload),
    emittery: () => peers.emittery.emitSerial('call', payload),
  })
  const c = await race(
    {
      tapable: () => crowd.tapable.promise(payload),
      hookable: () => crowd.hookable.callHook('call', payload),
    },
    2,
  )
  return [
    ratio('1 matching of 1 000, to a bare await', t.thousand, t.bare, 4),
    ratio('the same with a fresh envelope, to a bare await', t.envelope, t.bare, 4),
    ratio('10 matching of 1 000, to a bare awaited loop', t.tenOfThousand, t.loop, 1.4),
    ratio('1 000 registered, to 10 registered', t.thousand, t.ten, 1.1),
    faster('1 of 1 000, than tapable AsyncSeries', t.thousand, c.tapable, 500),
    faster('1 of 1 000, than hookable', t.thousand, c.hookable, 500),
    faster('one hook alone, than hookable', t.one, t.hookable, 5),
    faster('one hook alone, than emittery', t.one, t.emittery, 5),
    ratio('one hook alone, to tapable', t.one, t.tapable, 2),
    ratio('a payload never seen before (it is frozen first), to a bare await', t.fresh, t.bare, 8),
  ]
}
