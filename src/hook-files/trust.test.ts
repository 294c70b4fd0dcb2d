import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratchFolder, write } from '../../test/hook-files/files.fixture.ts'
import { lineDiff } from './line-diff.ts'
import { trustStore } from './trust.ts'

function fresh() {
  const folder = scratchFolder()
  const file = join(folder, 'state', 'trust.json')
  const path = write(join(folder, 'repo', '.hookhelm', 'hooks.yaml'), 'hooks: []\n')
  return { folder, file, path, store: trustStore(file) }
}

describe('4.2 #29 trust in the hook file of a repository', () => {
  test('is given to one content at one path, and to no other', () => {
    const { store, path, folder } = fresh()
    expect(store.state(path, 'a')).toBe('new')
    store.trust(path, 'a')
    expect(store.state(path, 'a')).toBe('trusted')
    expect(store.state(path, 'a ')).toBe('changed')
    expect(store.state(join(folder, 'other', 'hooks.yaml'), 'a')).toBe('new')
    expect(store.paths()).toEqual([path])
  })

  test('is lost when the file moves, and the same by every way to it', () => {
    const { store, path, folder } = fresh()
    store.trust(path, 'a')
    symlinkSync(join(folder, 'repo'), join(folder, 'link'))
    expect(store.state(join(folder, 'link', '.hookhelm', 'hooks.yaml'), 'a')).toBe('trusted')
    renameSync(join(folder, 'repo'), join(folder, 'moved'))
    expect(store.state(join(folder, 'moved', '.hookhelm', 'hooks.yaml'), 'a')).toBe('new')
  })

  test('stays with the place of the file when a link takes that place', () => {
    const { store, path, folder } = fresh()
    store.trust(path, 'a')
    const other = write(join(folder, 'elsewhere', 'hooks.yaml'), 'b')
    rmSync(path)
    symlinkSync(other, path)
    expect(store.state(path, 'b')).toBe('changed')
    renameSync(dirname(path), `${dirname(path)}.x`)
    symlinkSync(dirname(other), dirname(path))
    expect(store.findInFolder(dirname(path))).toMatchObject({ path, text: 'a' })
    expect(store.revoke(path)).toBe(true)
  })

  test('is found in a folder that is gone, by every way to it, whatever file is there now', () => {
    const { store, path, folder } = fresh()
    symlinkSync(join(folder, 'repo'), join(folder, 'link'))
    store.trust(path, 'a')
    rmSync(dirname(path), { recursive: true })
    const linked = join(folder, 'link', '.hookhelm')
    expect(store.findInFolder(linked)).toMatchObject({ path: join(linked, 'hooks.yaml'), text: 'a' })
    const json = write(join(dirname(path), 'hooks.json'), 'b')
    expect(store.findInFolder(dirname(path))).toMatchObject({ path })
    store.trust(json, 'b')
    expect(store.paths()).toEqual([json])
  })

  test('remembers the repository and the scripts', () => {
    const { store, path, folder } = fresh()
    mkdirSync(join(folder, 'repo', '.git'))
    const scripts = { '/x.sh': { sha256: 'ab' }, '/l.sh': { sha256: 'cd', link: true }, '/none.sh': {} }
    store.trust(path, 'a', scripts)
    expect(store.find(path)).toMatchObject({ scripts, repository: join(folder, 'repo') })
    expect(store.repositories()).toEqual([join(folder, 'repo')])
  })

  test('that was given before scripts were recorded still counts', () => {
    const { file, store, path } = fresh()
    store.trust(path, 'a')
    const { version, files } = JSON.parse(readFileSync(file, 'utf8'))
    const { sha256, text } = files[path]
    write(file, JSON.stringify({ version, files: { [path]: { sha256, text } } }))
    expect(store.state(path, 'a')).toBe('trusted')
    expect(store.find(path)?.scripts).toBeUndefined()
  })

  test('can be taken away', () => {
    const { store, path } = fresh()
    store.trust(path, 'a')
    expect(store.revoke(path)).toBe(true)
    expect(store.revoke(path)).toBe(false)
    expect(store.state(path, 'a')).toBe('new')
  })

  test('is seen by other processes at once', () => {
    const { file, path, store } = fresh()
    trustStore(file).trust(path, 'a')
    expect(store.state(path, 'a')).toBe('trusted')
  })

  test('lies in a file that only its owner can read, written whole', () => {
    const { file, path, store } = fresh()
    store.trust(path, 'a')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700)
    expect(readdirSync(dirname(file))).toEqual(['trust.json'])
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      version: 1,
      files: { [path]: { text: 'a' } },
    })
  })

  test.each([
    ['half a file', '{"version": 1, "fil', 0o600],
    ['another shape', '{"trusted": true}', 0o600],
    ['a text that is not the trusted one', '{"version":1,"files":{"/x":{"sha256":"00","text":"b"}}}', 0o600],
    ['a file that others can write', '{"version": 1, "files": {}}', 0o666],
  ])('%s is no store, and trusts nobody', (_, text, mode) => {
    const { file, path, store } = fresh()
    write(file, text)
    chmodSync(file, mode)
    expect(() => store.state(path, 'a')).toThrow(expect.objectContaining({ code: 'trust.store' }))
    expect(() => store.trust(path, 'a')).toThrow(expect.objectContaining({ code: 'trust.store' }))
  })

  test('that cannot be written is an error', () => {
    const { folder, path } = fresh()
    mkdirSync(join(folder, 'taken', 'trust.json', 'x'), { recursive: true })
    expect(() => trustStore(join(folder, 'taken', 'trust.json')).trust(path, 'a')).toThrow(
      expect.objectContaining({ code: 'trust.store' }),
    )
  })

  test('shows what changed since', () => {
    const { store, path } = fresh()
    expect(store.pendingDiff(path, 'one\ntwo\n')).toBe('@@ -1 +1 @@\n+one\n+two')
    store.trust(path, 'one\ntwo\nthree\n')
    expect(store.pendingDiff(path, 'one\n2\nthree\n')).toBe('@@ -1 +1 @@\n one\n-two\n+2\n three')
    expect(store.pendingDiff(path, 'one\ntwo\nthree\n')).toBe('')
  })
})

describe('a difference', () => {
  const numbered = (count: number) => Array.from({ length: count }, (_, i) => `line ${i + 1}`)

  test('shows three lines around each change and says where it stands', () => {
    const after = numbered(30)
    after.splice(24, 1)
    after.splice(4, 0, 'new')
    expect(lineDiff(numbered(30).join('\n'), after.join('\n')).split('\n')).toEqual([
      '@@ -2 +2 @@',
      ' line 2',
      ' line 3',
      ' line 4',
      '+new',
      ' line 5',
      ' line 6',
      ' line 7',
      '@@ -22 +23 @@',
      ' line 22',
      ' line 23',
      ' line 24',
      '-line 25',
      ' line 26',
      ' line 27',
      ' line 28',
    ])
  })

  test('makes visible what would hide text from its reader', () => {
    expect(lineDiff('', 'rm -rf /\u001b[2K\u202e\u200b\ttab\r')).toBe(
      '@@ -1 +1 @@\n+rm -rf /\\u{1b}[2K\\u{202e}\\u{200b}\ttab\\u{d}',
    )
  })

  test('of two large texts that share nothing is still found', () => {
    const diff = lineDiff(
      numbered(5_000).join('\n'),
      numbered(5_000)
        .map((line) => `${line}!`)
        .join('\n'),
    )
    expect(diff.split('\n')).toHaveLength(10_001)
    expect(lineDiff('', numbered(5_000).join('\n')).split('\n')).toHaveLength(5_001)
  })
})
