import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratchFolder, write } from '../../../test/hook-files/files.fixture.ts'
import { assertSafeOwner, loadFile } from './load-file.ts'
import { readHookFile } from './read-hook-file.ts'

const good = 'hooks: []\n'
const coded = (code: string) => expect.objectContaining({ code })

describe('4.2 #28 a file that others could have written is not parsed', () => {
  test('writable by others', () => {
    const path = write(join(scratchFolder(), 'hooks.yaml'), 'this: [is not even YAML')
    chmodSync(path, 0o646)
    expect(readHookFile(path)).toMatchObject({
      kind: 'bad',
      problems: [{ code: 'config.untrusted_owner', line: 1 }],
    })
    chmodSync(path, 0o644)
    expect(readHookFile(path)).toMatchObject({ problems: [{ code: 'config.syntax' }] })
  })

  test('in a folder in which others can put another one in its place', () => {
    const folder = join(scratchFolder(), 'open')
    mkdirSync(folder)
    const path = write(join(folder, 'hooks.yaml'), good)
    chmodSync(folder, 0o777)
    expect(() => loadFile(path, 'user')).toThrow(coded('config.untrusted_owner'))
    chmodSync(folder, 0o1777)
    expect(loadFile(path, 'user')?.text).toBe(good)
  })

  test('of another owner, whoever that is', () => {
    const path = write(join(scratchFolder(), 'hooks.yaml'), good)
    const stats = statSync(path)
    const strange = Object.assign(Object.create(Object.getPrototypeOf(stats)), stats, { uid: 4_242 })
    expect(() => assertSafeOwner(path, strange, 'user', { uid: 1_000 })).toThrow(
      coded('config.untrusted_owner'),
    )
    expect(() => assertSafeOwner(path, strange, 'user', { uid: 4_242 })).not.toThrow()
    const roots = Object.assign(Object.create(Object.getPrototypeOf(stats)), stats, { uid: 0 })
    expect(() => assertSafeOwner(path, roots, 'managed', { uid: 1_000 })).not.toThrow()
    expect(() => assertSafeOwner(path, strange, 'user', { uid: undefined })).not.toThrow()
  })

  test('a managed file may not even be writable by a group', () => {
    const path = write(join(scratchFolder(), 'hooks.yaml'), good)
    chmodSync(path, 0o664)
    expect(loadFile(path, 'user')?.text).toBe(good)
    expect(() => loadFile(path, 'managed')).toThrow(coded('config.untrusted_owner'))
  })

  test('a link counts as what it leads to', () => {
    const folder = scratchFolder()
    const target = write(join(folder, 'target.yaml'), good)
    symlinkSync(target, join(folder, 'hooks.yaml'))
    chmodSync(target, 0o666)
    expect(() => loadFile(join(folder, 'hooks.yaml'), 'user')).toThrow(coded('config.untrusted_owner'))
  })
})

describe('what is no readable file is refused', () => {
  test('a folder, a pipe that nobody writes to, too many bytes, bytes that are no text', () => {
    const folder = scratchFolder()
    mkdirSync(join(folder, 'a.yaml'))
    expect(() => loadFile(join(folder, 'a.yaml'), 'user')).toThrow(coded('config.unreadable'))
    execFileSync('mkfifo', [join(folder, 'b.yaml')])
    expect(() => loadFile(join(folder, 'b.yaml'), 'user')).toThrow(coded('config.unreadable'))
    write(join(folder, 'c.yaml'), `hooks: []\n#${'x'.repeat(1_048_576)}`)
    expect(() => loadFile(join(folder, 'c.yaml'), 'user')).toThrow(coded('config.unreadable'))
    writeFileSync(join(folder, 'd.yaml'), Buffer.from([0x68, 0xff, 0xfe]))
    expect(() => loadFile(join(folder, 'd.yaml'), 'user')).toThrow(coded('config.unreadable'))
  })

  test('a file that is not there is no error here, but one where it was asked for', () => {
    const path = join(scratchFolder(), 'hooks.yaml')
    expect(loadFile(path, 'user')).toBeUndefined()
    expect(readHookFile(path)).toMatchObject({
      kind: 'bad',
      problems: [{ code: 'config.unreadable', file: path }],
    })
  })
})
