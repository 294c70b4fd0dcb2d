import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { findRunFolder, startFolders } from './run-folder.ts'

const base = realpathSync(mkdtempSync(join(tmpdir(), 'hookhelm-folders-')))
afterAll(() => rmSync(base, { recursive: true, force: true }))
const [listed, other, home] = [join(base, 'listed'), join(base, 'listed-too'), join(base, 'home/ada')]
for (const folder of [join(listed, 'app'), other, join(home, 'shop')]) mkdirSync(folder, { recursive: true })
symlinkSync('/etc', join(listed, 'way-out'))
symlinkSync(listed, join(base, 'way-in'))
const find = (named: string | null, folders = [listed]) =>
  findRunFolder(named, { cwd: other, folders: () => folders })

test('a run works in a listed folder or below it, however the path is written', async () => {
  expect(await find(listed)).toBe(listed)
  expect(await find(`${join(listed, 'app')}/`)).toBe(join(listed, 'app'))
  expect(await find(join(base, 'way-in', 'app'))).toBe(join(listed, 'app'))
  expect(await find(join(listed, 'app'), [join(base, 'way-in')])).toBe(join(listed, 'app'))
  expect(await find(null, [])).toBe(other)
})

test.each([
  ['/'],
  ['/etc'],
  [base],
  [other],
  [join(listed, 'way-out')],
  [join(listed, 'none')],
  [`${listed}/app/../../listed-too`],
  [`${listed}/app/..`],
  ['app'],
  ['.'],
  ['~'],
  [`${listed}\0/app`],
])('a run does not work in %j', async (named) => {
  await expect(find(named)).rejects.toMatchObject({ code: 'runs.outside_folders' })
  await expect(find(named, [])).rejects.toMatchObject({ code: 'runs.outside_folders' })
})

test('without a list it is the project of the start, and nothing if that is a home, lies above one, or is /', () => {
  expect(startFolders(join(home, 'shop'), home)).toEqual([join(home, 'shop')])
  for (const cwd of [home, join(base, 'home'), base, '/'])
    expect([cwd, startFolders(cwd, home)]).toEqual([cwd, []])
  expect(startFolders(userInfo().homedir, '/nowhere')).toEqual([])
})
