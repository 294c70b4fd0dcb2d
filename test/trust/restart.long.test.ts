import { chmodSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hookhelm } from '../gateway/doors.fixture.ts'
import { type Running, running } from '../gateway/running.fixture.ts'
import { openLines } from '../gateway/socket.fixture.ts'
import { blocking, scratch, trustFileAt, write } from './repository.fixture.ts'

/** A coding agent that works in a folder. */
function agentIn(gateway: Running, cwd: string) {
  const lines = openLines(gateway.socket ?? '', { hookhelm: 1, agent: 'claude-code' })
  let id = 0
  return async (event: string, more: object = {}): Promise<string> => {
    id += 1
    const native = { session_id: `s-${cwd}`, cwd, transcript_path: '/t', hook_event_name: event, ...more }
    lines.send({ id, event, native })
    return JSON.stringify(await lines.next())
  }
}

const bash = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 't1' }

async function filesLine(gateway: Running) {
  const { body } = await gateway.call('GET', '/v1/status')
  return body.lines.find(({ name }: { name: string }) => name === 'hook files')
}

/** What an agent can do to the repository's hook file between two starts of the gateway. */
const changes: readonly [string, (file: string) => unknown, RegExp][] = [
  ['a comment was appended', (file) => write(file, `${readFileSync(file, 'utf8')}# x\n`), /has changed/],
  ['.hookhelm was moved away', (file) => renameSync(dirname(file), `${dirname(file)}.x`), /no longer exists/],
  ['the file was deleted', (file) => rmSync(file), /no longer exists/],
  [
    'the file was replaced by a link',
    (file) => {
      const other = write(join(dirname(file), 'other.yaml'), 'hooks: []\n')
      rmSync(file)
      symlinkSync(other, file)
    },
    /has changed/,
  ],
  ['the file was broken', (file) => write(file, 'hooks: [[['), /has changed/],
  ['the file became writable for everybody', (file) => chmodSync(file, 0o666), /can be written by others/],
]

describe('ruling 42: after a restart of the gateway the trusted hooks of a repository stay in force when', () => {
  test.each(changes)('%s', async (_, change, words) => {
    const home = scratch()
    const repository = join(home, 'repository')
    const text = blocking('the repository says no')
    const file = write(join(repository, '.hookhelm', 'hooks.yaml'), text)
    trustFileAt(home, file, text)
    const first = await running({ home })
    expect(await agentIn(first, repository)('PreToolUse', bash)).toContain('the repository says no')
    await first.close()
    change(file)

    const gateway = await running({ home })
    const agent = agentIn(gateway, repository)
    const start = await agent('SessionStart', { source: 'startup' })
    expect(start).toMatch(words)
    expect(start).toContain('hookhelm trust')
    expect(await agent('PreToolUse', bash)).toContain('the repository says no')
    expect(await filesLine(gateway)).toMatchObject({ state: 'warn', text: expect.stringMatching(words) })
    const { body } = await gateway.call('GET', '/v1/executions?decision=block')
    expect(body.executions[0].metadata).toMatchObject({ file_state: expect.stringMatching(/changed|gone/) })
    const explained = await gateway.call('GET', `/v1/events/${body.executions[0].event_id}/explain`)
    expect(explained.body.trace.files).toEqual([expect.stringMatching(words)])

    const shown = await hookhelm(gateway, ['trust', '--show', '--cwd', repository])
    if (!words.source.includes('others')) {
      expect(shown.code).not.toBe(0)
      expect(shown.stdout).toMatch(/^[-+]/m)
    }
    const revoked = await hookhelm(gateway, ['trust', '--revoke', '--cwd', repository])
    expect(revoked).toMatchObject({ code: 0, stderr: expect.stringContaining('no longer trusted') })
    await gateway.until(
      () => agent('PreToolUse', bash),
      (answer) => !answer.includes('the repository says no'),
    )
  })

  test('the agent works in a folder of the repository and .git was removed', async () => {
    const home = scratch()
    const repository = join(home, 'repository')
    const cwd = join(repository, 'sub', 'folder')
    write(join(cwd, 'x'), '')
    write(join(repository, '.git', 'HEAD'), '')
    const text = blocking('the repository says no')
    trustFileAt(home, write(join(repository, '.hookhelm', 'hooks.yaml'), text), text)
    renameSync(join(repository, '.git'), join(repository, '.x'))
    const gateway = await running({ home })
    expect(await agentIn(gateway, cwd)('PreToolUse', bash)).toContain('the repository says no')
  })

  test('a person who trusts the change puts it in force', async () => {
    const home = scratch()
    const repository = join(home, 'repository')
    const text = blocking('before')
    const file = write(join(repository, '.hookhelm', 'hooks.yaml'), text)
    trustFileAt(home, file, text)
    write(file, blocking('after'))
    const gateway = await running({ home })
    const agent = agentIn(gateway, repository)
    expect(await agent('PreToolUse', bash)).toContain('before')
    const trusted = await hookhelm(gateway, ['trust', '--cwd', repository])
    expect(trusted).toMatchObject({ code: 0, stdout: expect.stringContaining('after') })
    await gateway.until(
      () => agent('PreToolUse', bash),
      (answer) => answer.includes('after'),
    )
    expect(await filesLine(gateway)).toMatchObject({ state: 'ok' })
  })
})

const guard = '#!/bin/sh\necho the script says no >&2\nexit 2\n'

function withScript(line: string, more = '') {
  const home = scratch()
  const repository = join(home, 'repository')
  const script = write(join(repository, 'guard.sh'), guard)
  chmodSync(script, 0o755)
  const config = JSON.stringify({ command: line })
  const text = `hooks:\n  - { id: guard, event: pre_tool_use, handler_type: command, config: ${config}${more} }\n`
  const file = write(join(repository, '.hookhelm', 'hooks.yaml'), text)
  trustFileAt(home, file, text)
  return { home, repository, script, file, text }
}

const tampered = '#!/bin/sh\ntouch ran\nexit 0\n'
const scriptChanges: readonly [string, (script: string) => unknown][] = [
  ['changed', (script) => write(script, tampered)],
  ['deleted', (script) => rmSync(script)],
  [
    'replaced by a link',
    (script) => {
      rmSync(script)
      symlinkSync(write(`${script}.x`, tampered), script)
    },
  ],
]

describe('ruling 42: a script that a trusted command names', () => {
  test.each([['./guard.sh'], ['sh guard.sh'], ['exec "$PWD/guard.sh"'], ['sh -c ./guard.sh']])(
    'runs as %s while it is as it was trusted',
    async (line) => {
      const { home, repository } = withScript(line)
      const gateway = await running({ home })
      expect(await agentIn(gateway, repository)('PreToolUse', bash)).toContain('the script says no')
      expect(await filesLine(gateway)).toMatchObject({ state: 'ok' })
    },
  )

  test.each(scriptChanges)('is not run once it was %s, and the gate blocks', async (_, change) => {
    const { home, repository, script } = withScript('./guard.sh')
    const gateway = await running({ home })
    const agent = agentIn(gateway, repository)
    expect(await agent('PreToolUse', bash)).toContain('the script says no')
    change(script)
    const answer = await agent('PreToolUse', bash)
    expect(answer).toContain('deny')
    expect(() => readFileSync(join(repository, 'ran'))).toThrow()
    const { body } = await gateway.call('GET', '/v1/executions?decision=error')
    expect(body.executions[0]).toMatchObject({ code: 'trust.script', error: expect.stringContaining(script) })
    expect(await filesLine(gateway)).toMatchObject({ state: 'warn', text: expect.stringContaining(script) })
  })

  test('follows on_error, and the opening is recorded', async () => {
    const { home, repository, script } = withScript('./guard.sh', ', on_error: allow')
    write(script, tampered)
    const gateway = await running({ home })
    const { body } = await gateway.dispatch(
      'pre_tool_use',
      { tool_name: 'Bash', tool_input: {} },
      { envelope: { cwd: repository } },
    )
    expect(body.decision).toMatchObject({
      kind: 'allow',
      opened: [{ hook: 'guard', because: 'error', code: 'trust.script' }],
    })
    expect(() => readFileSync(join(repository, 'ran'))).toThrow()
  })

  test('is trusted anew by `hookhelm trust`, which names it', async () => {
    const { home, repository, script } = withScript('./guard.sh')
    write(script, guard.replace('no', 'still no'))
    const gateway = await running({ home })
    const agent = agentIn(gateway, repository)
    expect(await agent('PreToolUse', bash)).toContain('a hook failed')
    const trusted = await hookhelm(gateway, ['trust', '--cwd', repository])
    expect(trusted).toMatchObject({ code: 0, stderr: expect.stringContaining(`trusted script: ${script}`) })
    await gateway.until(
      () => agent('PreToolUse', bash),
      (answer) => answer.includes('the script says still no'),
    )
  })

  test('in another folder does not take the place of the trusted one', async () => {
    const { home, repository } = withScript('sh guard.sh')
    const other = join(repository, 'sub')
    write(join(other, 'guard.sh'), tampered)
    const gateway = await running({ home })
    const { body } = await gateway.dispatch(
      'pre_tool_use',
      { tool_name: 'Bash', tool_input: {} },
      { envelope: { cwd: other, session: 's', agent: 'x' } },
    )
    expect(body.decision).toMatchObject({ kind: 'allow' })
    const start = { envelope: { cwd: repository, session: 's2', agent: 'x' } }
    await gateway.dispatch('session_start', { source: 'startup' }, start)
    const moved = await gateway.dispatch(
      'pre_tool_use',
      { tool_name: 'Bash', tool_input: {} },
      { envelope: { cwd: other, session: 's2', agent: 'x' } },
    )
    expect(moved.body.decision).toMatchObject({ kind: 'block', code: 'trust.script' })
    expect(() => readFileSync(join(other, 'ran'))).toThrow()
  })

  test('that trust from before does not cover is said, and the hooks go on', async () => {
    const { home, repository, file, text } = withScript('./guard.sh')
    const store = join(home, 'trust.json')
    const { files, ...rest } = JSON.parse(readFileSync(store, 'utf8'))
    const { scripts: _, ...former } = files[file]
    write(store, JSON.stringify({ ...rest, files: { [file]: former } }))
    expect(former.text).toBe(text)
    const gateway = await running({ home })
    const agent = agentIn(gateway, repository)
    expect(await agent('SessionStart', { source: 'startup' })).toContain('trusted without the scripts')
    expect(await agent('PreToolUse', bash)).toContain('the script says no')
    expect(await filesLine(gateway)).toMatchObject({ state: 'warn' })
    expect((await hookhelm(gateway, ['trust', '--cwd', repository])).code).toBe(0)
    await gateway.until(
      () => filesLine(gateway),
      ({ state }) => state === 'ok',
    )
  })
})
