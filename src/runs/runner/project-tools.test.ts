import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../engine/core/time/clock.ts'
import { createProcesses } from '../../safe/process/run-process.ts'
import { createProjectTools } from './project-tools.ts'

const { signal } = new AbortController()

function project() {
  const root = mkdtempSync(join(tmpdir(), 'hookhelm-tools-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const folder = join(root, 'project')
  const outside = join(root, 'project-secrets')
  mkdirSync(folder)
  mkdirSync(outside)
  writeFileSync(join(outside, 'key'), 'secret')
  symlinkSync(outside, join(folder, 'linked'))
  symlinkSync(join(outside, 'not-yet'), join(folder, 'dangling'))
  const processes = createProcesses()
  onTestFinished(() => processes.close())
  const env = { PATH: process.env.PATH ?? '' }
  const tools = createProjectTools({ folder, env, clock: systemClock, run: processes.run })
  return { folder, outside, tools, at: (name: string) => join(folder, name) }
}

const call = async (run: () => unknown) => run()

describe('files of a run', () => {
  test.each([
    '../project-secrets/key',
    'linked/key',
    'linked/new/file',
    'dangling',
    'dangling/below',
    '/etc/passwd',
    '.',
    'a/../../project-secrets/key',
  ])('%s is outside of its folder: not read, written or edited', async (file_path) => {
    const { tools, outside } = project()
    const refused = { code: 'runs.outside_project' }
    await expect(call(() => tools.Read.run({ file_path }, signal))).rejects.toMatchObject(refused)
    await expect(call(() => tools.Write.run({ file_path, content: 'x' }, signal))).rejects.toMatchObject(
      refused,
    )
    const edit = { file_path, old_string: 'secret', new_string: 'x' }
    await expect(call(() => tools.Edit.run(edit, signal))).rejects.toMatchObject(refused)
    expect(readFileSync(join(outside, 'key'), 'utf8')).toBe('secret')
    expect(existsSync(join(outside, 'not-yet'))).toBe(false)
    expect(existsSync(join(outside, 'new'))).toBe(false)
  })

  test('are written with their folders, read by lines, and edited where the text occurs once', async () => {
    const { tools, at } = project()
    await tools.Write.run({ file_path: 'a/b.txt', content: 'one\ntwo\nthree\ntwo' }, signal)
    expect(await tools.Read.run({ file_path: at('a/b.txt'), offset: 1, limit: 2 }, signal)).toBe('two\nthree')
    const edit = (old_string: string, more = {}) =>
      call(() => tools.Edit.run({ file_path: 'a/b.txt', old_string, new_string: '$&', ...more }, signal))
    await expect(edit('two')).rejects.toThrow('occurs 2 times')
    await expect(edit('four')).rejects.toThrow('does not occur')
    await edit('two', { replace_all: true })
    expect(readFileSync(at('a/b.txt'), 'utf8')).toBe('one\n$&\nthree\n$&')
  })
})

describe('a command of a run', () => {
  test('works in the folder, and fails with its exit code and output', async () => {
    const { tools, folder } = project()
    expect(await tools.Bash.run({ command: 'pwd' }, signal)).toContain(folder)
    const failing = () => tools.Bash.run({ command: 'echo out; echo err >&2; exit 3' }, signal)
    await expect(call(failing)).rejects.toMatchObject({
      code: 'process.exit',
      message: expect.stringMatching(/exit code 3\nout\n+err/),
    })
  })

  test('is ended at its own time limit', async () => {
    const { tools } = project()
    const run = () => tools.Bash.run({ command: 'sleep 600', timeout: 50 }, signal)
    await expect(call(run)).rejects.toMatchObject({ code: 'process.timeout' })
  })
})
