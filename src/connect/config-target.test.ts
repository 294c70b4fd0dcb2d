import fc from 'fast-check'
import { parse } from 'jsonc-parser'
import { describe, expect, test } from 'vitest'
import { settings, writings } from '../../test/connect/jsonc.fixture.ts'
import { codexHost } from '../agents/codex/host.ts'
import { copilotCliHost } from '../agents/copilot-cli/host.ts'
import { hooksTarget, listOwnHooks } from './config-target.ts'

const line = "'/opt/a b/hookhelm-hook' codex PreToolUse --socket /s --within 1 || { exit 2; }"
const path = '/home/somebody/.codex/hooks.json'

const layouts = {
  groups: {
    host: codexHost,
    ours: { type: 'command', command: line, timeout: 60 },
    theirs: fc.record({
      matcher: fc.string(),
      hooks: fc.array(fc.record({ type: fc.constant('command'), command: fc.string() }), { maxLength: 2 }),
    }),
  },
  flat: {
    host: copilotCliHost,
    ours: { type: 'command', bash: line, timeoutSec: 60 },
    theirs: fc.record({ type: fc.constant('command'), bash: fc.string() }),
  },
}

describe.each(Object.entries(layouts))('%s', (_, { host, ours, theirs }) => {
  const target = hooksTarget(host, path, [
    { event: 'PreToolUse', value: ours },
    { event: 'Stop', value: { ...ours, timeout: 5 } },
  ])
  const texts = writings(settings(['PreToolUse', 'Stop', 'PostToolUse'], theirs))
  /** As data, without lists that are empty: whether they are there makes no difference to any agent. */
  const data = (text: string) => {
    const { hooks = {}, version: _version, ...rest } = parse(text.replace(/^\uFEFF/, '')) ?? {}
    const lists = Object.entries(hooks).filter(([, list]) => (list as unknown[]).length > 0)
    return { rest, hooks: Object.fromEntries(lists) }
  }

  test('what others wrote is neither changed by adding ours nor by taking it out again', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const merged = target.merge(text)
        expect(listOwnHooks(host, path, merged)).toHaveLength(2)
        expect(target.isMerged(merged)).toBe(true)
        const back = target.strip(merged)
        expect(data(back ?? '{}')).toEqual(data(text))
        expect(merged.startsWith('\uFEFF')).toBe(text.startsWith('\uFEFF'))
      }),
      { numRuns: 500 },
    )
  })

  test('every comment stays, in its order', () => {
    const comments = (text: string) =>
      text.match(/\/\* a \*\/|\/\* , ] } \*\/|\/\/ x, "hooks": \[\]|\/\/ \]/g) ?? []
    fc.assert(
      fc.property(texts, (text) => {
        const merged = target.merge(text)
        expect(comments(merged)).toEqual(comments(text))
        expect(comments(target.strip(merged) ?? '')).toEqual(comments(text))
      }),
      { numRuns: 500 },
    )
  })

  test('a second time changes nothing', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const once = target.merge(text)
        const again = target.merge(target.strip(once) ?? '')
        expect(target.isMerged(again)).toBe(true)
        expect(data(again)).toEqual(data(once))
      }),
    )
  })

  test('a file as a formatter leaves it comes back to the byte, without any note', () => {
    const others = fc.dictionary(fc.constantFrom('a', 'b'), fc.jsonValue({ maxDepth: 2 }), { minKeys: 1 })
    fc.assert(
      fc.property(
        others,
        fc.constantFrom('  ', '\t', '    '),
        fc.constantFrom('', '\n'),
        (value, unit, end) => {
          const text = JSON.stringify({ ...host.preamble, ...value }, undefined, unit) + end
          expect(target.strip(target.merge(text))).toBe(text)
        },
      ),
    )
  })
})
