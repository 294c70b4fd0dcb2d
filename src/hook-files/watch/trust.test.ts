import { chmodSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hooksYaml, write } from '../../../test/hook-files/files.fixture.ts'
import { workshop } from '../../../test/hook-files/watching.fixture.ts'
import { hookFileNotices } from './hook-file-notices.ts'
import { inspectHookFiles } from './inspect-hook-files.ts'

describe('4.2 #29 the hook file of a repository', () => {
  test('is inert until it is trusted, and not even parsed', () => {
    const { watch, file, ids, lines } = workshop()
    write(file('repository'), 'hooks: [[[ this is no file')
    expect(watch(['repository']).status()).toMatchObject([{ state: 'untrusted', hooks: 0, problems: [] }])
    expect(ids()).toEqual([])
    expect(lines).toMatchObject([
      { name: 'trust.needed', fields: { file: file('repository'), state: 'untrusted', hooks: 0 } },
    ])
  })

  test('comes alive when it is trusted, without being touched', async () => {
    const { watch, file, ids, trust, settle } = workshop()
    const path = write(file('repository'), hooksYaml('a'))
    watch(['repository'])
    trust.trust(path, readFileSync(path, 'utf8'))
    await settle()
    expect(ids()).toEqual(['a'])
  })

  test('once changed keeps what was trusted until a person trusts the change', async () => {
    const { watch, file, ids, trust, settle, lines, blockedBy } = workshop()
    const path = write(file('repository'), hooksYaml('a'))
    trust.trust(path, hooksYaml('a'))
    const { status } = watch(['repository'])
    write(path, hooksYaml('a', 'evil'))
    await settle()
    expect(ids()).toEqual(['a'])
    expect(await blockedBy()).toBe('a')
    expect(status()).toMatchObject([{ state: 'changed', hooks: 1 }])
    expect(lines).toMatchObject([
      { name: 'trust.needed', fields: { file: path, state: 'changed', hooks: 1 } },
    ])
    expect(trust.pendingDiff(path, readFileSync(path, 'utf8'))).toContain('+  - id: evil')
    trust.trust(path, readFileSync(path, 'utf8'))
    await settle()
    expect(ids()).toEqual(['a', 'evil'])
  })

  test('loses its hooks when trust is taken away', async () => {
    const { watch, file, ids, trust, settle } = workshop()
    const path = write(file('repository'), hooksYaml('a'))
    trust.trust(path, hooksYaml('a'))
    watch(['repository'])
    trust.revoke(path)
    await settle()
    expect(ids()).toEqual([])
  })

  test('cannot take an id from the managed file, nor lock its own hooks', () => {
    const { watch, file, trust } = workshop()
    const text =
      'hooks:\n  - { id: managed/x, event: stop, handler_type: says }\n  - { event: stop, handler_type: says, locked: true }\n'
    trust.trust(write(file('repository'), text), text)
    expect(() => watch(['repository'])).toThrow(
      expect.objectContaining({ code: 'config.field', at: `${file('repository')}:2:11` }),
    )
  })

  test('an id that the user’s own file has is an error at the start', () => {
    const { watch, file, trust } = workshop()
    write(file('user'), hooksYaml('a'))
    trust.trust(write(file('repository'), hooksYaml('a')), hooksYaml('a'))
    expect(() => watch(['user', 'repository'])).toThrow(
      expect.objectContaining({ code: 'config.duplicate_id' }),
    )
  })

  test('a store of trust that cannot be used is an error, not trust', () => {
    const { watch, file, trust } = workshop()
    write(file('repository'), hooksYaml('a'))
    write(trust.file, '{')
    expect(() => watch(['repository'])).toThrow(expect.objectContaining({ code: 'trust.store' }))
  })
})

const evil = (path: string) => write(join(dirname(path), 'evil.yaml'), hooksYaml())

/** What an agent can do to a trusted file, and the state that the file is in afterwards. */
const changes: readonly [string, (path: string) => unknown, 'changed' | 'gone'][] = [
  ['a comment is appended', (path) => write(path, `${hooksYaml('a')}# nothing\n`), 'changed'],
  ['the file is emptied', (path) => write(path, ''), 'changed'],
  ['its hooks are removed', (path) => write(path, hooksYaml()), 'changed'],
  ['the file is broken', (path) => write(path, 'hooks: [[['), 'changed'],
  ['the file is deleted', (path) => rmSync(path), 'gone'],
  ['its folder is moved away', (path) => renameSync(dirname(path), `${dirname(path)}.x`), 'gone'],
  [
    'its folder becomes a link to another',
    (path) => {
      renameSync(dirname(path), `${dirname(path)}.x`)
      symlinkSync('/', dirname(path))
    },
    'gone',
  ],
  [
    'the file becomes a link to another',
    (path) => {
      const other = evil(path)
      rmSync(path)
      symlinkSync(other, path)
    },
    'changed',
  ],
  [
    'the file becomes a link to nothing',
    (path) => {
      rmSync(path)
      symlinkSync('/nowhere', path)
    },
    'gone',
  ],
  ['the file becomes writable for everybody', (path) => chmodSync(path, 0o666), 'changed'],
  ['a second hook file appears', (path) => write(path.replace('.yaml', '.json'), '{"hooks":[]}'), 'changed'],
  [
    'the file gets another extension',
    (path) => {
      rmSync(path)
      write(path.replace('.yaml', '.json'), '{"hooks":[]}')
    },
    'changed',
  ],
]

describe('ruling 42: the trusted hooks stay in force when', () => {
  test.each(changes)('%s while the process runs', async (_, change, state) => {
    const { watch, file, trust, settle, blockedBy } = workshop()
    const path = write(file('repository'), hooksYaml('a'))
    trust.trust(path, hooksYaml('a'))
    const { status } = watch(['repository'])
    change(path)
    await settle()
    expect(await blockedBy()).toBe('a')
    expect(status()).toMatchObject([{ state, file: path, hooks: 1 }])
  })

  test.each(changes)('%s before the process starts', async (_, change, state) => {
    const { watch, file, trust, blockedBy, lines } = workshop()
    const path = write(file('repository'), hooksYaml('a'))
    trust.trust(path, hooksYaml('a'))
    change(path)
    const { status } = watch(['repository'])
    expect(await blockedBy()).toBe('a')
    expect(status()).toMatchObject([{ state, file: path, hooks: 1 }])
    expect(lines).toMatchObject([{ name: 'trust.needed', fields: { file: path, state, hooks: 1 } }])
    const [notice] = status().flatMap(hookFileNotices)
    expect(notice?.text).toContain('stays in force (1 hooks)')
  })

  test('a person who revokes trust in a file that is gone has no hooks', async () => {
    const { watch, file, ids, trust, settle } = workshop()
    const path = write(file('repository'), hooksYaml('a'))
    trust.trust(path, hooksYaml('a'))
    const { status } = watch(['repository'])
    rmSync(path)
    await settle()
    expect(trust.revoke(path)).toBe(true)
    await settle()
    expect(ids()).toEqual([])
    expect(status()).toMatchObject([{ state: 'none', hooks: 0 }])
  })

  test('the same answer is available without registering anything', () => {
    const { file, trust, ids, folderOf } = workshop()
    const path = write(file('repository'), hooksYaml('a'))
    trust.trust(path, hooksYaml('a'))
    rmSync(path)
    write(file('user'), 'hooks: [')
    const folders = [folderOf('user'), folderOf('repository')]
    expect(inspectHookFiles(folders, { trust })).toMatchObject([
      { state: 'red', problems: [{ line: 1, code: 'config.syntax' }] },
      { state: 'gone', file: path, hooks: 1 },
    ])
    expect(ids()).toEqual([])
  })
})
