import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratchFolder, write } from '../../test/hook-files/files.fixture.ts'
import { findHookFolders, hookFileIn, trustFile } from './hook-folders.ts'

describe('where hook files are looked for', () => {
  test('from the root of the repository down to the working directory, and no further up', () => {
    const above = scratchFolder()
    const root = join(above, 'repo')
    const cwd = join(root, 'packages', 'api')
    mkdirSync(join(root, '.git'), { recursive: true })
    mkdirSync(cwd, { recursive: true })
    const folders = findHookFolders({ cwd, env: { HOME: '/home/me' } }).filter(
      ({ level }) => level === 'repository',
    )
    expect(folders.map(({ folder, label }) => [folder, label])).toEqual([
      [join(root, '.hookhelm'), 'repository'],
      [join(root, 'packages', '.hookhelm'), 'repository/packages'],
      [join(cwd, '.hookhelm'), 'repository/packages/api'],
    ])
  })

  test('a repository inside of another one leads past none of its hooks', () => {
    const root = scratchFolder()
    const cwd = join(root, 'inner', 'a')
    mkdirSync(join(root, '.git'))
    mkdirSync(join(root, 'inner', '.git'), { recursive: true })
    mkdirSync(cwd)
    const folders = findHookFolders({ cwd, env: {} }).filter(({ level }) => level === 'repository')
    expect(folders.map(({ folder }) => folder)).toEqual(
      [root, join(root, 'inner'), cwd].map((folder) => join(folder, '.hookhelm')),
    )
  })

  test('where a session began counts wherever it goes', () => {
    const root = scratchFolder()
    const [start, below, other] = [join(root, 'start'), join(root, 'start', 'a', 'b'), join(root, 'other')]
    for (const folder of [below, other]) mkdirSync(folder, { recursive: true })
    const foldersOf = (cwd: string) =>
      findHookFolders({ cwd, start, env: {} })
        .filter(({ level }) => level === 'repository')
        .map(({ folder, label }) => [folder, label])
    const at = (...parts: string[]) => join(start, ...parts, '.hookhelm')
    expect(foldersOf(start)).toEqual([[at(), 'repository']])
    expect(foldersOf(below)).toEqual([
      [at(), 'repository'],
      [at('a'), 'repository/a'],
      [at('a', 'b'), 'repository/a/b'],
    ])
    expect(foldersOf(other)).toEqual([
      [at(), 'repository'],
      [join(other, '.hookhelm'), 'elsewhere'],
    ])
    mkdirSync(join(root, '.git'))
    expect(foldersOf(other)).toEqual([
      [join(root, '.hookhelm'), 'repository'],
      [at(), 'repository/start'],
      [join(other, '.hookhelm'), 'elsewhere/other'],
    ])
  })

  test('outside of a repository only the working directory itself', () => {
    const cwd = join(scratchFolder(), 'a')
    mkdirSync(cwd)
    expect(findHookFolders({ cwd, env: {} }).filter(({ level }) => level === 'repository')).toEqual([
      { level: 'repository', folder: join(cwd, '.hookhelm'), label: 'repository' },
    ])
  })

  test('the user’s folder follows the usual variables, and the managed one comes first', () => {
    const foldersOf = (env: Record<string, string>) =>
      findHookFolders({ cwd: '/', env }).map(({ folder }) => folder)
    expect(foldersOf({ HOME: '/home/me' }).slice(0, 2)).toEqual([
      '/etc/hookhelm',
      '/home/me/.config/hookhelm',
    ])
    expect(foldersOf({ HOME: '/home/me', XDG_CONFIG_HOME: '/cfg' })[1]).toBe('/cfg/hookhelm')
    expect(foldersOf({ HOME: '/home/me', XDG_CONFIG_HOME: 'relative' })[1]).toBe('/home/me/.config/hookhelm')
    expect(foldersOf({ HOME: '/home/me', HOOKHELM_HOME: '/own' })[1]).toBe('/own')
  })

  test('a variable adds a managed folder and cannot take the real one away', () => {
    const managed = findHookFolders({ cwd: '/', env: { HOOKHELM_MANAGED_DIR: '/tmp/managed' } }).filter(
      ({ level }) => level === 'managed',
    )
    expect(managed.map(({ folder }) => folder)).toEqual(['/etc/hookhelm', '/tmp/managed'])
  })

  test('trust is kept with the user’s state', () => {
    expect(trustFile({ HOME: '/home/me' })).toBe('/home/me/.local/state/hookhelm/trust.json')
    expect(trustFile({ HOME: '/home/me', XDG_STATE_HOME: '/state' })).toBe('/state/hookhelm/trust.json')
    expect(trustFile({ HOOKHELM_HOME: '/own' })).toBe('/own/trust.json')
  })
})

describe('the file of a folder', () => {
  test.each(['hooks.yaml', 'hooks.yml', 'hooks.json'])('may be called %s', (name) => {
    const folder = scratchFolder()
    expect(hookFileIn(folder)).toBeUndefined()
    const path = write(join(folder, name), '')
    expect(hookFileIn(folder)).toBe(path)
  })

  test('that cannot be looked at is an error, not a file that is missing', () => {
    const folder = scratchFolder()
    symlinkSync('hooks.yaml', join(folder, 'hooks.yaml'))
    expect(() => hookFileIn(folder)).toThrow(expect.objectContaining({ code: 'config.unreadable' }))
    expect(hookFileIn(write(join(scratchFolder(), 'a'), ''))).toBeUndefined()
  })

  test('two of them are an error, since nobody knows which one counts', () => {
    const folder = scratchFolder()
    write(join(folder, 'hooks.yaml'), '')
    write(join(folder, 'hooks.json'), '')
    expect(() => hookFileIn(folder)).toThrow(expect.objectContaining({ code: 'config.two_files' }))
  })
})
