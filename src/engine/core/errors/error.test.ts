import { expect, test } from 'vitest'
import { errorText, HookError } from './error.ts'
import { errorTable } from './error-table.ts'

test('an error carries its code, what happened, where, and what to do', () => {
  const cause = new Error('inner')
  const error = new HookError('config.range', 'timeout_ms is 0', { at: 'timeout_ms', cause })
  expect(error).toBeInstanceOf(Error)
  expect(error).toMatchObject({ name: 'HookError', code: 'config.range', at: 'timeout_ms', cause })
  expect(error.hint).toBe(errorTable['config.range'])
})

test('a hint of its own stands before the one of the table', () => {
  expect(new HookError('config.field', 'x', { hint: 'did you mean y?' }).hint).toBe('did you mean y?')
})

test('as JSON it keeps what an operator needs, and no cause', () => {
  const hint = errorTable['config.field']
  const error = new HookError('config.field', 'no', { cause: new Error('secret') })
  expect(JSON.parse(JSON.stringify(error))).toEqual({ code: 'config.field', message: 'no', hint })
  expect(new HookError('config.field', 'no', { at: 'a.b' }).toJSON()).toMatchObject({ at: 'a.b' })
})

test('every code of the table says what to do', () => {
  for (const [code, hint] of Object.entries(errorTable)) {
    expect(code).toMatch(/^[a-z]+\.[a-z0-9_]+$/)
    expect(hint.endsWith('.'), code).toBe(true)
  }
})

test.each<[unknown, string]>([
  [new Error('plain'), 'plain'],
  [new TypeError(''), 'TypeError'],
  ['text', 'text'],
  [42, '42'],
  [undefined, 'undefined'],
  [null, 'null'],
  [Symbol('s'), 'Symbol(s)'],
  [10n, '10'],
])('the text of a thrown %s is %s', (thrown, text) => {
  expect(errorText(thrown)).toBe(text)
})

test.each<[string, unknown]>([
  ['a throwing message', Object.defineProperty(new Error('x'), 'message', { get: fail })],
  ['a symbol as name', Object.assign(new Error(''), { name: Symbol('n') })],
  ['an object as message', Object.assign(new Error(''), { message: Object.create(null) })],
  ['no prototype', Object.create(null)],
  ['a throwing toString', { toString: fail }],
  ['a revoked proxy', revoked()],
  ['a proxy that refuses everything', new Proxy({}, { get: fail, getPrototypeOf: fail })],
])('a thrown value with %s still gives a text', (_, thrown) => {
  const text = errorText(thrown)
  expect(text).toBeTypeOf('string')
  expect(`${text}`).not.toBe('')
})

function fail(): never {
  throw new Error('read me not')
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
