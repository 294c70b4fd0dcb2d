import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readData } from './data.ts'

const cwd = mkdtempSync(join(tmpdir(), 'hookhelm-data-'))
afterAll(() => rmSync(cwd, { recursive: true, force: true }))

test('an object from a file or from the command line, as YAML or JSON', () => {
  writeFileSync(join(cwd, 'hook.yaml'), 'event: stop\nconfig: { url: https://a.example }\n')
  writeFileSync(join(cwd, 'hook.json'), '{ "event": "stop" }')
  expect(readData({ cwd, file: 'hook.yaml' })).toEqual({
    event: 'stop',
    config: { url: 'https://a.example' },
  })
  expect(readData({ cwd, file: 'hook.json' })).toEqual({ event: 'stop' })
  expect(readData({ data: '{"event":"stop"}' })).toEqual({ event: 'stop' })
  expect(readData({})).toEqual({})
})

test('what cannot be read is said with its place', () => {
  expect(() => readData({ data: '{ "event": ' })).toThrow(/--data:1:/)
  expect(() => readData({ data: '[1]' })).toThrow('--data must hold an object')
  expect(() => readData({ cwd, file: 'none.yaml' })).toThrow(
    expect.objectContaining({ code: 'config.unreadable' }),
  )
  expect(() => readData({ file: 'a', data: '{}' })).toThrow(/together/)
})
