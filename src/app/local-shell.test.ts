import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { dataFolder } from '../hook-files/hook-folders.ts'
import { lazyAnalyzeShell } from '../load-shell.ts'
import { localShell } from './local-shell.ts'

let cwd = ''
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'hookhelm-local-shell-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

const programs = (line: string) => localShell(line, { cwd }).commands.map(({ program }) => program)

test('a script that a line runs is read from this machine', () => {
  writeFileSync(join(cwd, 'clean.sh'), '#!/bin/sh\nrm -rf build\n')
  expect(programs('./clean.sh')).toContain('rm')
  expect(programs('bash clean.sh')).toContain('rm')
})

test('a symbolic link is followed, also to a file that does not exist yet', () => {
  mkdirSync(join(cwd, 'real'))
  writeFileSync(join(cwd, 'real/prod.cfg'), '')
  symlinkSync(join(cwd, 'real/prod.cfg'), join(cwd, 'link'))
  symlinkSync(join(cwd, 'real'), join(cwd, 'folder'))
  const targets = localShell('echo x > link; echo x > folder/new.cfg', { cwd }).writes.map(
    ({ target }) => target,
  )
  expect(targets).toEqual([join(cwd, 'real/prod.cfg'), join(cwd, 'real/new.cfg')])
})

test('a link whose file does not exist yet, and a folder in a pattern, are followed too', () => {
  mkdirSync(join(cwd, 'real'))
  symlinkSync('real/new.cfg', join(cwd, 'absolute'))
  symlinkSync('absolute', join(cwd, 'chained'))
  symlinkSync(join(cwd, 'real'), join(cwd, 'folder'))
  const targetOf = (line: string) => {
    const { writes, deletes } = localShell(line, { cwd })
    return [...writes, ...deletes].map(({ target }) => target)
  }
  expect(targetOf('echo x > absolute')).toEqual([join(cwd, 'real/new.cfg')])
  expect(targetOf('echo x > chained')).toEqual([join(cwd, 'real/new.cfg')])
  expect(targetOf('rm folder/*.cfg')).toEqual([join(cwd, 'real/*.cfg')])
  symlinkSync('circle', join(cwd, 'circle'))
  expect(targetOf('echo x > circle')).toHaveLength(1)
})

test('a line that names too many files to look up is not known as a whole', () => {
  const names = Array.from({ length: 1_100 }, (_, n) => `f${n}`).join(' ')
  expect(localShell(`touch ${names}; echo x > link`, { cwd }).opaque).toMatchObject([{ reason: 'budget' }])
})

test('a pipe is not opened, and a large file is not read', () => {
  execFileSync('mkfifo', [join(cwd, 'pipe.sh')])
  writeFileSync(join(cwd, 'large.sh'), `rm -rf x\n${'#'.repeat(300_000)}`)
  for (const line of ['sh pipe.sh', 'sh large.sh'])
    expect(localShell(line, { cwd }).opaque).toMatchObject([{ reason: 'script' }])
})

test('the analyser of another machine looks at no file', () => {
  writeFileSync(join(cwd, 'clean.sh'), 'rm -rf build\n')
  expect(lazyAnalyzeShell('sh clean.sh', { cwd })).toMatchObject({ opaque: [{ reason: 'script' }] })
})

test('a line that changes temporary files comes with the folders that are none', () => {
  const effects = localShell('rm -rf /tmp/x', { cwd, home: '/tmp/ada' })
  expect(effects.homes).toContain('/tmp/ada')
  expect(effects.guarded).toContain(dataFolder())
  expect(localShell('rm -rf build', { cwd: '/srv' }).guarded).toBeUndefined()
})

test('what a call writes through a hard link that an earlier call made, it writes to the file', () => {
  mkdirSync(join(cwd, 'deep'))
  writeFileSync(join(cwd, '.env'), 'A=1')
  linkSync(join(cwd, '.env'), join(cwd, 'deep/copy'))
  const { writes, reads, opaque } = localShell('cat deep/copy; echo x > deep/copy', { cwd })
  const names = [join(cwd, 'deep/copy'), join(cwd, '.env')]
  expect([writes, reads].map((files) => files.map(({ path }) => path))).toEqual([names, names])
  expect(opaque).toEqual([])
})

test('a hard link whose other name is nowhere near is marked', () => {
  const other = mkdtempSync(join(tmpdir(), 'hookhelm-local-shell-'))
  writeFileSync(join(other, '.env'), 'A=1')
  linkSync(join(other, '.env'), join(cwd, 'copy'))
  expect(localShell('echo x > copy', { cwd }).opaque).toMatchObject([{ reason: 'path' }])
  rmSync(other, { recursive: true })
})
