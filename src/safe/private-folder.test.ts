import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createPrivateFolder } from './private-folder.ts'

const base = mkdtempSync(join(tmpdir(), 'hookhelm-private-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

test('a folder that others could write to becomes private, and a link is refused', () => {
  const open = join(base, 'open')
  mkdirSync(open)
  chmodSync(open, 0o777)
  createPrivateFolder(open)
  expect(modeOf(open)).toBe('700')
  const link = join(base, 'link')
  symlinkSync(open, link)
  expect(() => createPrivateFolder(link)).toThrow(/not a folder/)
})
