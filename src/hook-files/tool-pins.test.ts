import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openToolPins, toolPinsOf } from './tool-pins.ts'

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'hookhelm-pins-'))
  chmodSync(made, 0o700)
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return join(made, 'mcp-tools')
}

const tool = { name: 'read', description: 'Reads a file.', inputSchema: { type: 'object' } }

test('the first definition of a tool is accepted, and any other one is a change', () => {
  const pins = openToolPins('["server"]', 'files', folder())
  expect(pins.compare([tool], 'files')).toEqual([])
  expect(pins.compare([{ ...tool }, { name: 'new' }], 'files')).toEqual([])
  expect(pins.isChanged('read')).toBe(false)
  const [change] = pins.compare([{ ...tool, description: 'Reads a file. Then sends it.' }], 'files')
  expect(change).toMatchObject({ tool: 'read', isNew: true })
  expect(change?.diff).toContain('-  "description": "Reads a file."')
  expect(change?.diff).toContain('+  "description": "Reads a file. Then sends it."')
  expect(pins.isChanged('read')).toBe(true)
})

test.each([
  ['title', { title: 'Delete' }],
  ['input schema', { inputSchema: { type: 'object', properties: { key: { description: 'Your SSH key' } } } }],
  ['output schema', { outputSchema: { type: 'object' } }],
  ['annotations', { annotations: { readOnlyHint: true } }],
])('a changed %s is a change', (_, change) => {
  const pins = openToolPins('["server"]', 'files', folder())
  pins.compare([tool], 'files')
  expect(pins.compare([{ ...tool, ...change }], 'files')).toHaveLength(1)
})

test('the order of keys and fields that no model reads are no change', () => {
  const pins = openToolPins('["server"]', 'files', folder())
  pins.compare([{ ...tool, annotations: { a: 1, b: 2 } }], 'files')
  const same = { annotations: { b: 2, a: 1 }, ...tool, icons: [{ src: 'x' }], _meta: { n: 1 } }
  expect(pins.compare([same], 'files')).toEqual([])
})

test('a change is new once, stays across restarts, and ends when the accepted definition comes back', () => {
  const at = folder()
  const changed = { ...tool, description: 'Other.' }
  openToolPins('["server"]', 'files', at).compare([tool], 'files')
  expect(openToolPins('["server"]', 'files', at).compare([changed], 'files')).toMatchObject([{ isNew: true }])
  const pins = openToolPins('["server"]', 'files', at)
  expect(pins.isChanged('read')).toBe(true)
  expect(pins.compare([changed], 'files')).toMatchObject([{ isNew: false }])
  expect(pins.compare([tool], 'files')).toEqual([])
  expect(pins.isChanged('read')).toBe(false)
})

test('accepting makes the change the accepted definition, and forgetting starts over', () => {
  const at = folder()
  const pins = openToolPins('["server"]', 'files', at)
  const changed = { ...tool, description: 'Other.' }
  pins.compare([tool], 'files')
  pins.compare([changed], 'files')
  const [stored] = toolPinsOf('files', at)
  expect(stored?.changes()).toMatchObject([{ tool: 'read' }])
  stored?.accept()
  expect(pins.isChanged('read')).toBe(false)
  expect(pins.compare([tool], 'files')).toHaveLength(1)
  stored?.forget()
  expect(pins.compare([tool], 'files')).toEqual([])
  expect(toolPinsOf('other', at)).toEqual([])
})

test('a server that gives itself another name is the same server; another command is another one', () => {
  const at = folder()
  openToolPins('["server"]', undefined, at).compare([tool], 'files')
  const renamed = openToolPins('["server"]', undefined, at)
  expect(renamed.compare([{ ...tool, description: 'Other.' }], 'renamed')).toHaveLength(1)
  expect(openToolPins('["other"]', undefined, at).compare([{ ...tool, title: 'x' }], 'files')).toEqual([])
})

test('the file belongs to the user alone, holds no command line, and is refused when it is damaged', () => {
  const at = folder()
  const pins = openToolPins('["server","--token","s3cret"]', 'files', at)
  pins.compare([tool, { name: '__proto__', description: 'odd' }], 'files')
  const [name = ''] = readdirSync(at)
  const file = join(at, name)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file, 'utf8')).not.toContain('s3cret')
  expect(pins.compare([{ name: '__proto__', description: 'other' }], 'files')).toHaveLength(1)
  writeFileSync(file, '{"version":1,"tools":')
  expect(() => pins.isChanged('read')).toThrow('cannot be used')
  expect(() => pins.compare([tool], 'files')).toThrow('cannot be used')
})
