import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findClient } from './find-client.ts'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'hookhelm-find-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

function put(path: string, mode = 0o755): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, '{}')
  chmodSync(path, mode)
  return path
}

test('the client of the platform’s package comes first, then the one of a checkout, then the one on Node', () => {
  const root = folder()
  const places = { from: join(root, 'x.js'), root }
  const script = join(import.meta.dirname, 'hookhelm-hook.cjs')
  expect(findClient(places)).toEqual({ kind: 'node', path: script, command: [process.execPath, script] })
  const built = put(join(root, 'native/build/hookhelm-hook'))
  expect(findClient(places)).toEqual({ kind: 'native', path: built, command: [built] })
  const name = `node_modules/@hookhelm/client-${process.platform}-${process.arch}`
  put(join(root, name, 'package.json'))
  expect(findClient(places).path).toBe(built)
  const packaged = put(join(root, name, 'bin/hookhelm-hook'))
  expect(findClient(places)).toEqual({ kind: 'native', path: packaged, command: [packaged] })
})

test('what cannot be started is passed over', () => {
  const root = folder()
  put(join(root, 'native/build/hookhelm-hook'), 0o644)
  expect(findClient({ from: join(root, 'x.js'), root }).kind).toBe('node')
})
