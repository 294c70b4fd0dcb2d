import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { DOCTOR_SESSION_PREFIX } from '../../src/engine/core/context.ts'
import { inspected, runCli } from './inspect.fixture.ts'

// Each line a person types is a process of its own.
vi.setConfig({ testTimeout: 120_000 })

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/
const source = (body: string) => ({ source: `function handle(event) { ${body} }` })
const script = (name: string, body: string, more: object = {}) => ({
  event: 'pre_tool_use',
  handler_type: 'script',
  name,
  config: source(body),
  ...more,
})

describe('hookhelm list', () => {
  test('shows the chain that the running gateway uses in this folder, and what keeps hooks from running', async () => {
    const { hookhelm, hook, repository, home, url } = await inspected()
    await hookhelm('init')
    writeFileSync(
      join(home, 'hooks.yaml'),
      'hooks:\n  - id: mine\n    event: pre_tool_use\n    handler_type: script\n    config: { source: "function handle() {}" }\n',
    )
    await hook(script('stored first', '', { priority: 5 }))
    await hook(script('switched off', '', { enabled: false }))
    await hook(script('only watched', '', { shadow: true }))
    await hook(script('for codex', '', { scope: 'agent', agent_ids: ['codex'] }))
    const { stdout, code } = await hookhelm('list', 'PreToolUse', '--agent', 'claude-code')
    expect(code).toBe(0)
    const [first, , heading, ...rows] = stdout.split('\n')
    expect(first).toBe(`In force in the gateway at ${url}:`)
    expect(heading).toBe('pre_tool_use (gate)')
    expect(rows.slice(0, 8).map((row) => row.trim().replaceAll(/ {2,}/g, ' | '))).toEqual([
      '1. | stored first | script | everything | stored, tenant | priority 5',
      '2. | only watched | script | everything | stored, tenant | shadow: its answer is recorded and not applied',
      `3. | mine | script | everything | ${join(home, 'hooks.yaml')}:2`,
      '4. | no-force-push | answer | Bash: git push --force* | .hookhelm/hooks.yaml:7',
      '5. | no-secrets | answer | writes *.env by name | .hookhelm/hooks.yaml:17',
      '- | for codex | script | everything | stored, agent | only for codex',
      expect.stringMatching(/^- \| pii-redactor \| script .*switched off/),
      '- | switched off | script | everything | stored, tenant | switched off',
    ])
    expect(stdout).not.toMatch(uuid)
    expect(stdout).toMatch(/in force +\.hookhelm\/hooks\.yaml +3 hooks in force/)
    const json = JSON.parse((await hookhelm('list', '--json', 'pre_tool_use')).stdout)
    expect(json).toMatchObject({ gateway: url, event: 'pre_tool_use', folder: repository, problem: '' })
    expect(json.hooks[0]).toMatchObject({
      id: expect.stringMatching(uuid),
      name: 'stored first',
      position: 1,
    })
    expect((await hookhelm('list', 'pre_compact')).stdout).toContain('no hook listens to pre_compact here')
  })

  test('is the same over REST, for a viewer, and for an event by any name', async () => {
    const { call, hook, repository } = await inspected()
    await hook(script('guard', ''))
    const token = (await call('POST', '/v1/tokens', { name: 'v', role: 'viewer' })).body.token
    const query = `event=PreToolUse&folder=${encodeURIComponent(repository)}`
    const viewer = { authorization: `Bearer ${token}` }
    const { status, body } = await call('GET', `/v1/effective-hooks?${query}`, undefined, viewer)
    expect(status).toBe(200)
    expect(body).toMatchObject({ event: 'pre_tool_use', hooks: [{ name: 'guard', state: 'decides' }, {}] })
    expect(await call('GET', '/v1/effective-hooks?folder=relative')).toMatchObject({ status: 400 })
    expect(await call('GET', '/v1/effective-hooks?event=pre_tol_use')).toMatchObject({ status: 400 })
  })

  test('tells of a file that waits for trust, changed, is gone or is broken', async () => {
    const { hookhelm, repository, home, until } = await inspected()
    await hookhelm('init')
    const file = join(repository, '.hookhelm', 'hooks.yaml')
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, `${text}# changed\n`)
    const changed = await until(
      () => hookhelm('list', 'pre_tool_use'),
      ({ stdout }) => stdout.includes('CHANGED'),
    )
    expect(changed).toMatchObject({ code: 0 })
    expect(changed.stdout).toMatch(/CHANGED +\.hookhelm\/hooks\.yaml +3 hooks in force/)
    expect(changed.stdout).toContain('stays in force')
    expect(changed.stdout).toContain('no-force-push')
    rmSync(file)
    const gone = await until(
      () => hookhelm('list', 'pre_tool_use'),
      ({ stdout }) => stdout.includes('GONE'),
    )
    expect(gone.stdout).toMatch(/1\. +no-force-push /)
    writeFileSync(file, text)
    await hookhelm('trust', '--revoke')
    // The gateway notices within a second.
    const pending = await until(
      () => hookhelm('list', 'pre_tool_use'),
      ({ code }) => code === 4,
    )
    expect(pending.stdout).toMatch(/- +no-force-push .*its file has no effect until a person trusts it/)
    expect(pending.stdout).toMatch(/NOT TRUSTED +\.hookhelm\/hooks\.yaml +0 hooks in force/)
    mkdirSync(join(home, 'empty'))
    writeFileSync(join(home, 'hooks.yaml'), 'hooks:\n  - event: pre_tol_use\n')
    const broken = await hookhelm('list', '--folder', join(home, 'empty'))
    expect(broken).toMatchObject({ code: 1 })
    expect(broken.stdout).toContain('EVERY GATE BLOCKS HERE')
    expect(broken.stdout).toMatch(/BROKEN +.*hooks\.yaml/)
    expect(broken.stdout).toContain('pre_tol_use')
  })

  test('without a gateway says so first, and tells what the files would do', async () => {
    const home = mkdtempSync(join(tmpdir(), 'hookhelm-inspect-'))
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    const { hookhelm, repository, close } = await inspected({ home })
    await hookhelm('init')
    await close()
    const { stdout } = await runCli(['list'], { home, cwd: repository })
    expect(stdout).toMatch(
      /^No gateway is running, so connected agents are blocked\. The hook files alone would/,
    )
    expect(stdout).toContain('no-force-push')
    const named = await runCli(['list', '--url', 'http://127.0.0.1:9'], { home, cwd: repository })
    expect(named).toMatchObject({ code: 1, stderr: expect.stringContaining('gateway.unreachable') })
  })
})

describe('hookhelm test', () => {
  test('runs a hook of a file, a stored one by its name, or a definition that is not stored', async () => {
    const { hookhelm, hook, home } = await inspected()
    await hookhelm('init')
    await hook(
      script('no curl', "return { decision: 'block', reason: 'no curl' }", { matcher: 'Bash(curl*)' }),
    )
    const call = (command: string) => ['--tool', 'Bash', '--input', JSON.stringify({ command })]
    expect(await hookhelm('test', 'no-force-push', ...call('git push --force'))).toMatchObject({ code: 2 })
    const stored = await hookhelm('test', 'no curl', ...call('curl x'))
    expect(stored).toMatchObject({ code: 2, stdout: expect.stringMatching(/^decision +block$/m) })
    expect(await hookhelm('test', 'no curl', ...call('ls'))).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^matched +false$/m),
    })
    const file = join(home, 'new.json')
    writeFileSync(
      file,
      JSON.stringify({ scope: 'tenant', ...script('x', "return { decision: 'ask', reason: 'sure?' }") }),
    )
    expect(await hookhelm('test', '--file', file, ...call('ls'))).toMatchObject({ code: 3 })
    expect(await hookhelm('test', 'nothing', ...call('ls'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('in the hook files of this folder or in the gateway'),
    })
    expect(await hookhelm('test')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no hook to test'),
    })
  })
})

describe('hookhelm sessions timeline', () => {
  const story = async () => {
    const gateway = await inspected()
    await gateway.hook(
      script('no deletions', "return { decision: 'block', reason: 'nothing is deleted' }", {
        matcher: 'Bash(rm *)',
      }),
    )
    await gateway.hook(
      script('one per line', "return { decision: 'allow', updatedInput: { command: 'ls -1' } }", {
        matcher: 'Bash(ls)',
      }),
    )
    const { native } = gateway
    await native('SessionStart', { source: 'startup' })
    await native('UserPromptSubmit', { prompt: 'clean up the folder please' })
    await native('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'rm -rf build' } })
    await native('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'ls' } })
    await native('PreToolUse', { tool_name: 'Read', tool_input: { file_path: '/x/a.ts', limit: 5 } })
    await native('PreToolUse', {
      tool_name: 'WebFetch',
      tool_input: { url: 'https://a.example/?token=s3cr3t' },
    })
    await native('PreToolUse', { tool_name: 'mcp__files__find', tool_input: { depth: 2, where: 'src' } })
    return gateway
  }

  test('shows what each call is about, the decision by name, and rewrites', async () => {
    const { hookhelm } = await story()
    const { stdout, code } = await hookhelm('sessions', 'timeline', 's1')
    expect(code).toBe(0)
    const lines = stdout.split('\n').map((line) => line.trim().replace(/^\d\d:\d\d:\d\d /, ''))
    const texts = lines.map((line) => line.replace(/ {3}[0-9a-f-]{36}$/, ''))
    expect(texts).toEqual([
      'session_start startup',
      'turn 1',
      'user_prompt_submit clean up the folder please',
      'pre_tool_use Bash: rm -rf build → block by no deletions: nothing is deleted',
      'pre_tool_use Bash: ls',
      'one per line changed command: ls → ls -1',
      'pre_tool_use Read: /x/a.ts',
      'pre_tool_use WebFetch: https://a.example/?token=[REDACTED]',
      'pre_tool_use mcp__files__find: src',
      '',
    ])
    const { events } = JSON.parse((await hookhelm('sessions', 'timeline', 's1', '--json')).stdout)
    expect(events[2]).toMatchObject({ by_hook: expect.stringMatching(uuid), by_hook_name: 'no deletions' })
    expect((await hookhelm('sessions', 'list')).stdout).toMatch(/^s1 +claude-code +.* 7 +\d/m)
    expect((await hookhelm('hooks', 'history', '--hook-id', 'no deletions')).stdout).toMatch(
      /block +no deletions/,
    )
  })

  test('shows viewers what each call is about, redacted, and only operators what a hook changed', async () => {
    const { call } = await story()
    const token = (await call('POST', '/v1/tokens', { name: 'v', role: 'viewer' })).body.token
    const viewer = { authorization: `Bearer ${token}` }
    const { body } = await call('GET', '/v1/sessions/s1/timeline', undefined, viewer)
    expect(body.events).toHaveLength(7)
    const shown = JSON.stringify(body)
    expect(shown).toContain('rm -rf build')
    expect(shown).toContain('nothing is deleted')
    expect(shown).not.toMatch(/s3cr3t|"changes"/)
    const operator = await call('GET', '/v1/sessions/s1/timeline')
    expect(JSON.stringify(operator.body)).toContain('"changes"')
  })
})

describe('listings', () => {
  test('leave out the probes of the doctor until they are asked for', async () => {
    const { hookhelm, hook, native } = await inspected()
    await hook(script('guard', "return { decision: 'block', reason: 'no' }"))
    const call = { tool_name: 'Bash', tool_input: { command: 'true' } }
    const probe = `${DOCTOR_SESSION_PREFIX}1`
    await native('PreToolUse', { ...call, session_id: probe })
    await native('PreToolUse', call)
    const sessions = async (...flags: readonly string[]) =>
      (await hookhelm('sessions', 'list', ...flags)).stdout.includes(probe)
    expect(await sessions()).toBe(false)
    expect(await sessions('--probes')).toBe(true)
    const executions = async (...flags: readonly string[]) =>
      JSON.parse((await hookhelm('hooks', 'history', '--json', ...flags)).stdout).executions.length
    expect(await executions()).toBe(1)
    expect(await executions('--probes')).toBe(2)
    expect(await executions('--session-id', probe)).toBe(1)
    const tail = async (...flags: readonly string[]) =>
      JSON.parse((await hookhelm('executions', 'tail', '--cursor', '0', '--json', ...flags)).stdout)
        .executions
    expect(await tail()).toHaveLength(1)
    expect(await tail('--probes')).toHaveLength(2)
    expect((await hookhelm('sessions', 'timeline', probe)).stdout).toContain('Bash: true')
  })

  test('take a time as people write it', async () => {
    const { hookhelm, hook, native } = await inspected()
    await hook(script('guard', ''))
    await native('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'true' } })
    for (const listing of [
      ['sessions', 'list'],
      ['hooks', 'history'],
    ]) {
      expect((await hookhelm(...listing, '--since', '2h')).stdout).not.toBe('none\n')
      expect((await hookhelm(...listing, '--until', '30m')).stdout).toBe('none\n')
      expect(
        (await hookhelm(...listing, '--since', '2024-01-01', '--until', '2024-02-01T00:00:00Z')).stdout,
      ).toBe('none\n')
    }
    const { code, stderr } = await hookhelm('sessions', 'list', '--since', 'yesterday')
    expect(code).toBe(1)
    expect(stderr).toContain('--since is not a time: yesterday')
    expect(stderr).toContain('30m, 2h, 3d')
  })
})
