import { describe, expect, test } from 'vitest'
import { HookError } from '../errors/error.ts'
import { freezeDeep } from './freeze.ts'

class Money {
  amount = 1
}

const deep = (levels: number): object => {
  let value: object = {}
  for (let i = 0; i < levels; i++) value = { inner: value }
  return value
}

describe('plain data is frozen all the way down', () => {
  test('objects, lists, and objects without a prototype', () => {
    const bare = Object.assign(Object.create(null), { list: [{ a: 1 }] })
    const value = { bare, list: [[{ b: 2 }]] }
    freezeDeep(value)
    for (const part of [value, bare, bare.list, bare.list[0], value.list, value.list[0], value.list[0]?.[0]])
      expect(Object.isFrozen(part)).toBe(true)
  })

  test('a frozen shell around something fresh does not hide it', () => {
    const inner = { a: 1 }
    freezeDeep(Object.freeze({ inner }))
    expect(Object.isFrozen(inner)).toBe(true)
  })

  test('cycles and shared parts end', () => {
    const node: Record<string, unknown> = { name: 'node' }
    node.self = node
    node.children = [{ parent: node }, { parent: node }]
    freezeDeep(node)
    expect(Object.isFrozen(node.children)).toBe(true)
    let shared: object = {}
    for (let i = 0; i < 100; i++) shared = { left: shared, right: shared }
    freezeDeep(shared)
    expect(Object.isFrozen(shared)).toBe(true)
  })
})

describe('what belongs to the host is left alone', () => {
  test('class instances, buffers, dates, maps and functions stay as they are', () => {
    const parts = [new Money(), Buffer.from('x'), new Date(0), new Map(), new Set(), () => {}]
    freezeDeep({ parts })
    for (const part of parts) expect(Object.isFrozen(part)).toBe(false)
  })

  test('what is not an object is not touched', () => {
    for (const value of [undefined, null, 1, 'x', true, 1n, Symbol('s')]) freezeDeep(value)
  })
})

describe('depth', () => {
  test('256 levels are fine, more are refused with a code', () => {
    freezeDeep(deep(256))
    expect(() => freezeDeep(deep(257))).toThrow(expect.objectContaining({ code: 'input.too_deep' }))
    expect(() => freezeDeep(deep(100_000))).toThrow(HookError)
  })

  test('a walk that was cut short is not remembered as done', () => {
    const fresh = { a: 1 }
    const value = Object.freeze({ deep: Object.freeze(deep(300)), fresh })
    expect(() => freezeDeep(value)).toThrow(HookError)
    expect(() => freezeDeep(value)).toThrow(HookError)
    const good = Object.freeze({ fresh })
    freezeDeep(good)
    expect(Object.isFrozen(fresh)).toBe(true)
  })

  test('a cycle of a hundred objects ends', () => {
    const nodes = Array.from({ length: 100 }, (): Record<string, unknown> => ({}))
    nodes.forEach((node, i) => {
      node.next = nodes[(i + 1) % nodes.length]
    })
    freezeDeep(nodes[0])
    expect(nodes.every(Object.isFrozen)).toBe(true)
  })

  test('a getter that throws reaches the caller, and the next value is judged afresh', () => {
    const angry = {
      get no(): never {
        throw new TypeError('no')
      },
    }
    expect(() => freezeDeep({ angry })).toThrow(TypeError)
    const next = { a: {} }
    freezeDeep(next)
    expect(Object.isFrozen(next.a)).toBe(true)
  })
})
