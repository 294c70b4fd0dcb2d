import { mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hooksYaml, write } from '../../../test/hook-files/files.fixture.ts'
import { workshop } from '../../../test/hook-files/watching.fixture.ts'
import { systemClock } from '../../engine/core/time/clock.ts'

describe('at the start', () => {
  test('4.2 #21 a broken file is an error that lists every problem, and registers nothing', () => {
    const { watch, file, ids } = workshop()
    write(file('managed'), hooksYaml('a'))
    write(file('user'), 'hooks:\n  - event: [')
    expect(() => watch(['managed', 'user'])).toThrow(
      expect.objectContaining({ code: 'config.syntax', at: `${file('user')}:2:13` }),
    )
    expect(ids()).toEqual([])
  })

  test('files of all levels are loaded, the administrator’s first and locked', () => {
    const { watch, file, hooks } = workshop()
    write(file('user'), hooksYaml('mine'))
    write(file('managed'), hooksYaml('theirs'))
    const { status } = watch(['managed', 'user'])
    expect(hooks.list('pre_tool_use').map(({ id, locked }) => [id, locked])).toEqual([
      ['managed/theirs', true],
      ['mine', undefined],
    ])
    expect(status()).toMatchObject([
      { level: 'managed', state: 'good', hooks: 1, file: file('managed') },
      { level: 'user', state: 'good', hooks: 1 },
    ])
  })

  test('4.2 #36 an empty file is fine, and so is none', () => {
    const { watch, file } = workshop()
    write(file('user'), 'hooks: []\n')
    expect(watch(['user', 'managed']).status()).toMatchObject([
      { state: 'good', hooks: 0 },
      { state: 'none', hooks: 0, file: undefined },
    ])
  })
})

describe('while it runs', () => {
  test('a change is taken over as a whole', async () => {
    const { watch, file, ids, settle, lines } = workshop()
    write(file('user'), hooksYaml('a', 'b'))
    watch()
    write(file('user'), hooksYaml('b', 'c', 'd'))
    await settle()
    expect(ids()).toEqual(['b', 'c', 'd'])
    expect(lines).toEqual([{ name: 'reload.applied', fields: { file: file('user'), hooks: 3 } }])
  })

  test('4.2 #22 OH-57 a broken file keeps the hooks, is reported once and shows red', async () => {
    const { watch, file, blockedBy, settle, lines } = workshop()
    write(file('user'), hooksYaml('a'))
    const { status } = watch()
    write(file('user'), `${hooksYaml('a')}  - event: pre_tol_use\n`)
    await settle()
    await settle()
    expect(await blockedBy()).toBe('a')
    expect(lines).toMatchObject([
      {
        name: 'reload.kept_previous',
        fields: {
          file: file('user'),
          line: 7,
          column: 5,
          pointer: '/hooks/1/handler_type',
          code: 'config.field',
          hooks: 1,
        },
      },
    ])
    expect(status()).toMatchObject([
      { state: 'red', hooks: 1, problems: [{ line: 7 }, { code: 'input.unknown_event', column: 12 }] },
    ])
  })

  test('4.2 #22 the same broken content is not reported again, another one is', async () => {
    const { watch, file, settle, lines } = workshop()
    write(file('user'), hooksYaml('a'))
    watch()
    for (const text of ['hooks: [[', 'hooks: [[', 'hooks: [[[[']) {
      write(file('user'), text)
      await settle()
    }
    expect(lines.map(({ name }) => name)).toEqual(['reload.kept_previous', 'reload.kept_previous'])
  })

  test('4.2 #23 OH-59 a half-written file never disarms the hooks, and the finished one is picked up', async () => {
    const { watch, file, blockedBy, ids, settle, clock, lines } = workshop()
    write(file('user'), hooksYaml('a'))
    watch()
    const next = hooksYaml('b', 'c')
    truncateSync(file('user'))
    await settle()
    expect(await blockedBy()).toBe('a')
    expect(lines.map(({ name }) => name)).toEqual(['reload.kept_previous'])
    for (let length = 0; length < next.length; length += 7) {
      writeFileSync(file('user'), next.slice(0, length))
      await clock.advance(25)
      expect(await blockedBy()).toBe('a')
    }
    writeFileSync(file('user'), next)
    await settle()
    expect(ids()).toEqual(['b', 'c'])
  })

  test('4.2 #23 a file that lost hooks is believed only after a second of quiet', async () => {
    const { watch, file, ids, clock, settle } = workshop()
    write(file('user'), hooksYaml('a', 'b', 'c'))
    watch()
    write(file('user'), hooksYaml('a'))
    await clock.advance(900)
    expect(ids()).toEqual(['a', 'b', 'c'])
    await settle()
    expect(ids()).toEqual(['a'])
  })

  test('4.2 #23 a last line that is cut off is not believed at once either', async () => {
    const { watch, file, hooks, clock, settle } = workshop()
    write(file('user'), hooksYaml('a'))
    watch()
    write(file('user'), hooksYaml('a').replace('config: a\n', 'config: abc'))
    await clock.advance(900)
    expect(hooks.list()).toMatchObject([{ config: 'a' }])
    await settle()
    expect(hooks.list()).toMatchObject([{ config: 'abc' }])
  })

  test('4.2 #25 OH-55 OH-56 a deleted file keeps the hooks and says so, and comes back', async () => {
    const { watch, file, blockedBy, ids, settle, lines } = workshop()
    write(file('user'), hooksYaml('a'))
    const { status } = watch()
    rmSync(file('user'))
    await settle()
    expect(await blockedBy()).toBe('a')
    expect(lines).toMatchObject([
      { name: 'reload.kept_previous', fields: { code: 'config.unreadable', file: file('user') } },
    ])
    expect(status()).toMatchObject([{ state: 'red', hooks: 1 }])
    write(file('user'), hooksYaml('b'))
    await settle()
    expect(ids()).toEqual(['b'])
    expect(status()).toMatchObject([{ state: 'good' }])
  })

  test('the folder may be removed and made anew', async () => {
    const { watch, file, ids, settle } = workshop()
    write(file('user'), hooksYaml('a'))
    watch()
    rmSync(dirname(file('user')), { recursive: true })
    await settle()
    write(file('user'), hooksYaml('b'))
    await settle()
    expect(ids()).toEqual(['b'])
  })

  test('a file that is renamed into place, as editors do, is picked up', async () => {
    const { watch, file, ids, settle } = workshop()
    write(file('user'), hooksYaml('a'))
    watch()
    write(file('user', '.hooks.yaml.swp'), hooksYaml('b'))
    renameSync(file('user', '.hooks.yaml.swp'), file('user'))
    await settle()
    expect(ids()).toEqual(['b'])
  })

  test('YAML may become JSON; both at once keep the hooks', async () => {
    const { watch, file, ids, settle } = workshop()
    write(file('user'), hooksYaml('a'))
    const watching = watch()
    write(file('user', 'hooks.json'), '{ "hooks": [{ "id": "b", "event": "stop", "handler_type": "says" }] }')
    await settle()
    expect(ids()).toEqual(['a'])
    expect(watching.status()).toMatchObject([{ state: 'red', problems: [{ code: 'config.two_files' }] }])
    rmSync(file('user'))
    await settle()
    expect(ids()).toEqual(['b'])
  })

  test('a file that appears later is loaded', async () => {
    const { watch, file, ids, settle } = workshop()
    const { status } = watch()
    expect(status()).toMatchObject([{ state: 'none' }])
    mkdirSync(dirname(file('user')))
    write(file('user'), hooksYaml('a'))
    await settle()
    expect(ids()).toEqual(['a'])
  })

  test('what registering refuses keeps the hooks as well', async () => {
    const { watch, file, ids, hooks, settle, lines } = workshop()
    hooks.on('stop', { id: 'taken' }, () => undefined)
    write(file('user'), hooksYaml('a'))
    watch()
    write(file('user'), hooksYaml('taken'))
    await settle()
    expect(ids()).toEqual(['taken', 'a'])
    expect(lines).toMatchObject([{ name: 'reload.kept_previous', fields: { code: 'config.duplicate_id' } }])
  })

  test('after close nothing is looked at any more', async () => {
    const { watch, file, ids, settle } = workshop()
    write(file('user'), hooksYaml('a'))
    watch().close()
    write(file('user'), hooksYaml('b'))
    await settle()
    expect(ids()).toEqual(['a'])
  })

  test('OH-58 a change is noticed through the system, on real time', async () => {
    const { watch, file, ids } = workshop()
    write(file('user'), hooksYaml('a'))
    watch(['user'], systemClock)
    write(file('user'), hooksYaml('a', 'b'))
    await expect.poll(() => ids(), { interval: 5 }).toEqual(['a', 'b'])
  })
})
