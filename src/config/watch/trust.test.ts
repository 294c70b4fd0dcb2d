import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { hooksYaml, write } from '../files.fixture.ts'
import { workshop } from './watching.fixture.ts'

describe('4.2 #29 the hook file of a repository', () => {
  test('is inert until it is trusted, and not even parsed', () => {
    const { watch, file, ids, lines } = workshop()
    write(file('repository'), 'hooks: [[[ this is no file')
    expect(watch(['repository']).status()).toMatchObject([{ state: 'untrusted', hooks: 0, problems: [] }])
    expect(ids()).toEqual([])
    expect(lines).toEqual([{ name: 'trust.needed', fields: { file: file('repository'), hooks: 0 } }])
  })

  test('comes alive when it is trusted, without being touched', async () => {
    const { watch, file, ids, trust, settle } = workshop()
    const path = write(file('repository'), hooksYaml('a'))
    watch(['repository'])
    trust.trust(path, readFileSync(path, 'utf8'))
    await settle()
    expect(ids()).toEqual(['a'])
  })

  test('once changed is inert again; what was trusted goes on until somebody looks', async () => {
    const { watch, file, ids, trust, settle, lines, blockedBy } = workshop()
    const path = write(file('repository'), hooksYaml('a'))
    trust.trust(path, hooksYaml('a'))
    const { status } = watch(['repository'])
    write(path, hooksYaml('a', 'evil'))
    await settle()
    expect(ids()).toEqual(['a'])
    expect(await blockedBy()).toBe('a')
    expect(status()).toMatchObject([{ state: 'untrusted', hooks: 1 }])
    expect(lines).toEqual([{ name: 'trust.needed', fields: { file: path, hooks: 1 } }])
    expect(trust.pendingDiff(path, readFileSync(path, 'utf8'))).toContain('+  - id: evil')
    trust.trust(path, readFileSync(path, 'utf8'))
    await settle()
    expect(ids()).toEqual(['a', 'evil'])
  })

  test('changed before the start is inert', () => {
    const { watch, file, ids, trust } = workshop()
    const path = write(file('repository'), hooksYaml('b'))
    trust.trust(path, hooksYaml('a'))
    expect(watch(['repository']).status()).toMatchObject([{ state: 'untrusted', hooks: 0 }])
    expect(ids()).toEqual([])
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
