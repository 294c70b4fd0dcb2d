import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

// Each line a person types is a process of its own.
vi.setConfig({ testTimeout: 60_000 })

let home = ''
let repository = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hookhelm-cli-'))
  repository = join(home, 'repository')
  mkdirSync(join(repository, '.git'), { recursive: true })
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The command line as a person starts it, in a repository of its own. */
function hookhelm(args: readonly string[], stdin = ''): Promise<Ran> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../src/cli/main.ts'), ...args], {
    cwd: repository,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOME: home,
      HOOKHELM_HOME: join(home, 'own'),
      NO_COLOR: '1',
    },
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  child.stdin.end(stdin)
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })))
}

const hookFile = () => join(repository, '.hookhelm', 'hooks.yaml')
const call = (tool: string, input: object) => ['--tool', tool, '--input', JSON.stringify(input)]

describe('the first five minutes', () => {
  test('init writes a file whose three hooks work', async () => {
    expect(await hookhelm(['init'])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('written and trusted'),
    })
    expect(await hookhelm(['validate'])).toMatchObject({ code: 0, stdout: '' })
    const deleting = await hookhelm([
      'dispatch',
      'pre_tool_use',
      ...call('Bash', { command: 'cd app && git push --force' }),
    ])
    expect(deleting.code).toBe(2)
    expect(JSON.parse(deleting.stdout)).toMatchObject({ kind: 'block', by: 'no-force-push' })
    const secret = await hookhelm(['dispatch', 'PreToolUse', ...call('Write', { file_path: 'app/.env' })])
    expect(JSON.parse(secret.stdout)).toMatchObject({ reason: 'files named .env are not for agents' })
    const typed = ['dispatch', 'PreToolUse', ...call('Bash', { command: 'echo x | tee app/.env' })]
    expect(JSON.parse((await hookhelm(typed)).stdout)).toMatchObject({ kind: 'block', by: 'no-secrets' })
    const harmless = await hookhelm(['dispatch', 'pre_tool_use', ...call('Write', { file_path: 'app/x.ts' })])
    expect(harmless).toMatchObject({ code: 0, stderr: '' })
    const done = { tool_name: 'Bash', tool_input: {}, tool_response: 'ok' }
    expect((await hookhelm(['dispatch', 'post_tool_use'], JSON.stringify(done))).code).toBe(0)
    expect(JSON.parse(readFileSync(join(repository, '.hookhelm/journal.jsonl'), 'utf8'))).toMatchObject(done)
  })

  test('it says which version it is', async () => {
    expect((await hookhelm(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  test.each([
    [['list', 'stop', 'pre_tool_use'], 'pre_tool_use', 'takes event'],
    [['dispatch', 'stop', 'Bash'], 'Bash', 'takes event'],
    [['status', 'hooks'], 'hooks', 'takes flags only'],
    [['hooks', 'get', 'one', 'two'], 'two', 'takes hook-id'],
  ])('a word that %j does not take is refused, not ignored', async (words, word, hint) => {
    const { code, stderr } = await hookhelm(words)
    expect(code).toBe(1)
    expect(stderr).toContain(`there is no place for the word ${word}`)
    expect(stderr).toContain(hint)
  })

  test('init never writes over a file', async () => {
    await hookhelm(['init'])
    writeFileSync(hookFile(), 'hooks: []\n')
    expect(await hookhelm(['init'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('config.exists'),
    })
    expect(readFileSync(hookFile(), 'utf8')).toBe('hooks: []\n')
  })

  test('list shows the chain of each event and the files', async () => {
    await hookhelm(['init'])
    const { stdout } = await hookhelm(['list'])
    expect(stdout).toMatch(/^No gateway is running/)
    expect(stdout).toMatch(
      /pre_tool_use \(gate\)\n {2}1\. {2}no-force-push +answer +Bash: git push --force\* +\.hookhelm\/hooks\.yaml:7/,
    )
    expect(stdout).toMatch(/in force +\.hookhelm\/hooks\.yaml +3 hooks in force/)
    const data = JSON.parse((await hookhelm(['list', '--json', 'PostToolUse'])).stdout)
    expect(data).toMatchObject({ gateway: null, hooks: [{ event: 'post_tool_use', id: 'journal' }] })
  })

  test('explain says why, down to the part of a matcher that did not hold', async () => {
    await hookhelm(['init'])
    const { code, stdout } = await hookhelm([
      'explain',
      'pre_tool_use',
      ...call('Bash', { command: 'git push --force' }),
    ])
    expect(code).toBe(2)
    expect(stdout).toContain('pre_tool_use Bash → BLOCK by no-force-push')
    expect(stdout).toContain('names Write(*.env), !Write(**) does not match the arguments of this Bash call')
  })

  test('explain counts the hooks of another folder that the call touches, and names one that is not trusted', async () => {
    const [other, fresh] = ['other', 'fresh'].map((name) => join(home, name, '.hookhelm', 'hooks.yaml'))
    for (const file of [other, fresh]) {
      mkdirSync(join(file ?? '', '..'), { recursive: true })
      const refuse = `{ decision: block, reason: 'not here' }`
      writeFileSync(
        file ?? '',
        `hooks:\n  - { event: pre_tool_use, name: guard, handler_type: answer, config: ${refuse} }\n`,
      )
    }
    await hookhelm(['trust', other ?? ''])
    const explain = (command: string) => hookhelm(['explain', 'pre_tool_use', ...call('Bash', { command })])
    expect(await explain('cd ../other && make')).toMatchObject({
      code: 2,
      stdout: expect.stringContaining(`BLOCK by guard (${join(home, 'other')})`),
    })
    const allowed = await explain('cat ../fresh/a.txt')
    expect(allowed.code).toBe(0)
    expect(allowed.stderr).toContain(`${fresh} has no effect until you trust it`)
  })

  test('explain shows a condition term by term, with the value of each', async () => {
    await hookhelm(['init'])
    writeFileSync(
      hookFile(),
      `version: 1
hooks:
  - id: long-commands
    event: pre_tool_use
    if_expr: tool_name == "exec" && size(tool_input.cmd) > 80
    handler_type: script
    config: { source: "function handle() { return { decision: 'block', reason: 'no' } }" }
`,
    )
    expect((await hookhelm(['trust'])).code).toBe(0)
    const payload = JSON.stringify({ tool_name: 'exec', tool_input: { cmd: 'ls -la' } })
    const { code, stdout } = await hookhelm(['explain', 'pre_tool_use'], payload)
    expect(stdout).toContain('if tool_name == "exec" ✓ and size(tool_input.cmd) > 80 ✗ 6')
    expect(code).toBe(0)
  })

  test('test runs one hook alone', async () => {
    await hookhelm(['init'])
    const { code, stdout } = await hookhelm([
      'test',
      'no-secrets',
      '--json',
      ...call('Write', { file_path: '.env' }),
    ])
    expect(code).toBe(2)
    expect(JSON.parse(stdout)).toMatchObject({ decision: 'block', matched: true })
    const missed = await hookhelm(['test', 'no-secrets', '--json', ...call('Bash', {})])
    expect(JSON.parse(missed.stdout)).toMatchObject({ decision: 'allow', matched: false })
    expect((await hookhelm(['test', 'nobody', ...call('Bash', {})])).stderr).toContain('config.unknown_hook')
  })
})

describe('trust', () => {
  test('4.2 #29 a file that came with a repository does nothing until somebody agreed, and a change nothing until they agree again', async () => {
    await hookhelm(['init'])
    rmSync(join(home, 'own'), { recursive: true })
    const risky = ['dispatch', 'pre_tool_use', ...call('Bash', { command: 'git push --force' })]
    expect(await hookhelm(risky)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('has no effect until you trust it'),
    })
    expect((await hookhelm(['list'])).code).toBe(4)
    expect(await hookhelm(['trust', '--show'])).toMatchObject({
      code: 4,
      stdout: expect.stringContaining('+  - id: journal'),
    })
    expect((await hookhelm(['trust'])).code).toBe(0)
    expect((await hookhelm(risky)).code).toBe(2)
    writeFileSync(hookFile(), `${readFileSync(hookFile(), 'utf8')}# changed\n`)
    expect(await hookhelm(risky)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the content that you trusted stays in force'),
    })
    expect((await hookhelm(['trust'])).stdout).toContain('+# changed')
    expect((await hookhelm(['trust', '--revoke'])).code).toBe(0)
    expect((await hookhelm(risky)).code).toBe(0)
  })
})

describe('wrong input', () => {
  test('4.2 #21 a broken file is refused with every problem and its place', async () => {
    mkdirSync(join(repository, '.hookhelm'))
    writeFileSync(
      hookFile(),
      'hooks:\n  - event: pre_tol_use\n    handler_type: command\n    config: { command: "true" }\n    timeout_ms: 0\n',
    )
    const { code, stdout } = await hookhelm(['validate'])
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /hooks\.yaml:2:\d+ \/hooks\/0\/event input\.unknown_event: .*did you mean pre_tool_use/,
    )
    expect(stdout).toMatch(/hooks\.yaml:5:\d+ \/hooks\/0\/timeout_ms config\.range/)
    expect(JSON.parse((await hookhelm(['validate', '--json'])).stdout).problems).toHaveLength(2)
  })

  test.each([
    [['dispatch', 'pre_tol_use', ...call('x', {})], 'did you mean pre_tool_use?'],
    [['dispatch', 'pre_tool_use', '--payload', '{'], 'input.json'],
    [['dispatch', 'pre_tool_use', '--payload', '[]'], 'input.schema'],
    [['dispatch', 'pre_tool_use', '--payload', '{"tool_name":"x"}'], 'tool_input must be an object'],
    [['import', 'nowhere.json'], 'ENOENT'],
  ])('4.1 #18 #19 %j is one clear line and exit code 1', async (args, text) => {
    const { code, stderr, stdout } = await hookhelm(args)
    expect(code).toBe(1)
    expect(stderr).toContain(text)
    expect(stderr).not.toContain('    at ')
    expect(stdout).toBe('')
  })

  test('errors are data too', async () => {
    const { stdout } = await hookhelm(['dispatch', 'nope', '--json', ...call('x', {})])
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'input.unknown_event' } })
  })
})

describe('import', () => {
  test("another system's file becomes ours, with a note for what has no equivalent", async () => {
    const settings = {
      hooks: {
        PreToolUse: [{ matcher: 'Bash|Edit', hooks: [{ type: 'command', command: 'true', timeout: 5 }] }],
      },
    }
    writeFileSync(join(repository, 'settings.json'), JSON.stringify(settings))
    const { code, stdout, stderr } = await hookhelm(['import', 'settings.json'])
    expect(code).toBe(0)
    expect(stderr).toContain('1 hooks imported')
    mkdirSync(join(repository, '.hookhelm'))
    writeFileSync(hookFile(), stdout)
    expect((await hookhelm(['validate'])).code).toBe(0)
    expect(stdout).toMatch(/event: PreToolUse/)
  })
})
