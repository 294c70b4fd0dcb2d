import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { assertPinnedFiles, hashFile, pinnedFileState } from './pinned-file.ts'

function pinned() {
  const cwd = mkdtempSync(join(tmpdir(), 'hookhelm-pinned-'))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  const file = join(cwd, 'x.sh')
  writeFileSync(file, 'one')
  const sha256 = hashFile(file, false) ?? ''
  return { cwd, file, pin: { path: 'x.sh', sha256 } }
}

test('a file is the same by its content, wherever its command runs', () => {
  const { cwd, file, pin } = pinned()
  expect(pinnedFileState(pin, cwd)).toBe('same')
  expect(pinnedFileState({ ...pin, path: file }, '/')).toBe('same')
  expect(pinnedFileState(pin, '/')).toBe('missing')
  expect(() => assertPinnedFiles([pin], cwd)).not.toThrow()
})

test('a change is seen although size and time of the file are as before', () => {
  const { cwd, file, pin } = pinned()
  const old = new Date('2020-01-01')
  utimesSync(file, old, old)
  expect(pinnedFileState(pin, cwd)).toBe('same')
  writeFileSync(file, 'two')
  utimesSync(file, old, old)
  expect(statSync(file)).toMatchObject({ size: 3, mtimeMs: old.getTime() })
  expect(pinnedFileState(pin, cwd)).toBe('changed')
  writeFileSync(file, 'one')
  expect(pinnedFileState(pin, cwd)).toBe('same')
  const other = join(cwd, 'other')
  writeFileSync(other, 'two')
  renameSync(other, file)
  expect(pinnedFileState(pin, cwd)).toBe('changed')
})

test('what takes the place of a file is not the file', () => {
  const { cwd, file, pin } = pinned()
  const copy = join(cwd, 'copy')
  renameSync(file, copy)
  expect(pinnedFileState(pin, cwd)).toBe('missing')
  symlinkSync(copy, file)
  expect(pinnedFileState(pin, cwd)).toBe('link')
  expect(pinnedFileState({ ...pin, link: true }, cwd)).toBe('same')
  rmSync(file)
  mkdirSync(file)
  expect(pinnedFileState(pin, cwd)).toBe('changed')
})

test.runIf(process.getuid?.() !== 0)('a file that cannot be read is not the same', () => {
  const { cwd, file, pin } = pinned()
  chmodSync(file, 0)
  expect(pinnedFileState(pin, cwd)).toBe('changed')
})

test('a file that did not exist must not exist', () => {
  const { cwd } = pinned()
  expect(pinnedFileState({ path: 'new.sh' }, cwd)).toBe('same')
  writeFileSync(join(cwd, 'new.sh'), '')
  expect(pinnedFileState({ path: 'new.sh' }, cwd)).toBe('appeared')
  expect(() => assertPinnedFiles([{ path: 'new.sh' }], cwd)).toThrow(
    expect.objectContaining({ code: 'trust.script', message: expect.stringContaining(join(cwd, 'new.sh')) }),
  )
})
