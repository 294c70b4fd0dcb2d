import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { openLocal } from '../../src/app/local.ts'
import { addPack, removePack } from '../../src/cli/packs/edit-packs.ts'
import { findPack } from '../../src/hook-files/packs/pack.ts'
import { hookhelm } from '../gateway/doors.fixture.ts'
import type { Running } from '../gateway/running.fixture.ts'
import { scratch, trustFileAt, write } from '../trust/repository.fixture.ts'

// Each command is a process of its own.
vi.setConfig({ testTimeout: 120_000 })

function repositoryIn(home: string) {
  const folder = join(home, 'work', 'repository')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, '.hookhelm', 'hooks.yaml')
  const run = (...args: readonly string[]) =>
    hookhelm({ home, url: '' } as Running, [...args, '--cwd', folder])
  const env = { HOME: home, HOOKHELM_HOME: home, PATH: process.env.PATH }
  const decide = async (command: string) => {
    const local = await openLocal({ cwd: folder, env })
    const call = { tool_name: 'Bash', tool_input: { command } }
    const decision = await local.hooks.dispatch('pre_tool_use', call, { cwd: folder })
    await local.close()
    return decision
  }
  return { folder, file, run, decide }
}

describe('hookhelm add', () => {
  test('in a fresh folder makes a spelling of rm -rf that no pattern knows blocked, and removes itself again', async () => {
    const { file, run, decide } = repositoryIn(scratch())
    expect(await run('add', 'destructive-commands')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`written and trusted: ${file}`),
    })
    const by = 'destructive-commands/delete-outside'
    const input = JSON.stringify({ command: 'X="rm -rf"; $X /' })
    const sent = await run('dispatch', 'pre_tool_use', '--tool', 'Bash', '--input', input)
    expect(sent.code).toBe(2)
    expect(JSON.parse(sent.stdout)).toMatchObject({ kind: 'block', by })
    const tested = await run('test', by, '--tool', 'Bash', '--input', input, '--json')
    expect(JSON.parse(tested.stdout)).toMatchObject({ decision: 'block' })
    expect(await decide('rm -rf build')).toMatchObject({ kind: 'allow' })

    const before = readFileSync(file, 'utf8')
    expect((await run('add', 'destructive-commands')).stderr).toBe('nothing to change\n')
    expect(readFileSync(file, 'utf8')).toBe(before)

    expect((await run('add', 'destructive-commands', '--decision', 'ask', '--replace')).code).toBe(0)
    expect(await decide('X="rm -rf"; $X /')).toMatchObject({ kind: 'ask', by })
    expect((await run('add', '--remove', 'destructive-commands')).code).toBe(0)
    expect(await decide('X="rm -rf"; $X /')).toMatchObject({ kind: 'allow' })
  })

  test('lists and shows packs, and with --dry-run writes nothing', async () => {
    const { file, run } = repositoryIn(scratch())
    const listed = await run('add', '--list')
    expect(listed.stdout).toMatch(/^force-push +3 +- +Pushes that rewrite/m)
    expect((await run('add', 'force-push', '--show')).stdout).toContain('- id: force-push/forced')
    const dry = await run('add', 'force-push', '--dry-run', '--shadow')
    expect(dry.stdout).toContain('+    shadow: true')
    expect(existsSync(file)).toBe(false)
    expect(await run('add', 'force-push', '--decision', 'deny')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--decision must be ask or block'),
    })
    expect((await run('add')).stderr).toContain('name a pack')
  })

  test('does not trust what others wrote into the same file', async () => {
    const home = scratch()
    const { file, run, decide } = repositoryIn(home)
    write(file, 'version: 1\nhooks: []\n')
    expect((await run('add', 'force-push')).stderr).toContain('its hooks are not in force')
    expect(await decide('git push -f')).toMatchObject({ kind: 'allow' })
    trustFileAt(home, file, readFileSync(file, 'utf8'))
    expect(await decide('git push -f')).toMatchObject({ kind: 'block' })
    expect((await run('add', 'opaque-commands')).stderr).toContain('written and trusted')
    expect(await decide('python3 -c 1')).toMatchObject({ kind: 'ask', by: 'opaque-commands/inline-code' })
  })

  test("writes to the user's file, which needs no trust", async () => {
    const home = scratch()
    const { file, run, decide } = repositoryIn(home)
    expect((await run('add', 'force-push', '--user')).stderr).toContain(
      `written: ${join(home, 'hooks.yaml')}`,
    )
    expect(existsSync(file)).toBe(false)
    expect(await decide('git push -f')).toMatchObject({ kind: 'block', by: 'force-push/forced' })
  })
})

describe('a pack in a file', () => {
  const pack = findPack('force-push')
  const path = '/x/hooks.yaml'

  test('that a person changed stays as it is, until they ask for the text of the pack', () => {
    const { text } = addPack({ path, text: undefined }, pack, false)
    const changed = text.replace('decision: block', 'decision: ask')
    const again = addPack({ path, text: changed }, pack, false)
    expect(again).toMatchObject({ text: changed, added: [], kept: ['force-push/forced'] })
    expect(addPack({ path, text: changed }, pack, true)).toMatchObject({
      text,
      replaced: ['force-push/forced'],
    })
  })

  test('gets the hooks of a newer pack, and loses those that it dropped', () => {
    const [first, ...rest] = pack.hooks
    if (first === undefined) throw new Error('the pack is empty')
    const old = { ...pack, text: pack.text.replace('force-push/forced', 'force-push/former') }
    const former = { ...first, id: 'force-push/former' }
    const { text } = addPack({ path, text: undefined }, { ...old, hooks: [former, ...rest] }, false)
    const added = addPack({ path, text }, pack, false)
    expect(added).toMatchObject({ added: ['force-push/forced'], kept: ['force-push/former'], removed: [] })
    const replaced = addPack({ path, text }, pack, true)
    expect(replaced.removed).toEqual(['force-push/former'])
    expect(replaced.text).not.toContain('force-push/former')
  })

  test('is the same in JSON, and keeps comments there', () => {
    const json = '{\n  // mine\n  "hooks": []\n}\n'
    const file = '/x/hooks.json'
    const added = addPack({ path: file, text: json }, pack, false)
    expect(added.text).toContain('// mine')
    expect(addPack({ path: file, text: added.text }, pack, false).text).toBe(added.text)
    expect(removePack({ path: file, text: added.text }, pack).text).toBe(json)
  })
})
