import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agent, hookFile, refusing } from '../hostile/agents/agent.fixture.ts'
import { running } from './running.fixture.ts'
import { openLines } from './socket.fixture.ts'

const NO = 'the other folder says no'

/** A session in `own`, and beside it a folder `other` with a trusted hook file. */
async function folders(text: string, ownText?: string, options: Parameters<typeof running>[0] = {}) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'hookhelm-touched-')))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const [own, other] = [join(home, 'own'), join(home, 'other')]
  for (const folder of [own, other]) mkdirSync(join(folder, 'src'), { recursive: true })
  if (ownText !== undefined) hookFile(home, own, ownText)
  const file = hookFile(home, other, text)
  const gateway = await running({ ...options, home })
  const send = agent(gateway)
  const call = (tool_name: string, tool_input: object) =>
    send('PreToolUse', {
      ...{ session_id: 's1', cwd: own, hook_event_name: 'PreToolUse', permission_mode: 'default' },
      ...{ tool_name, tool_input },
    })
  const says = async (tool_name: string, tool_input: object) =>
    JSON.stringify(await call(tool_name, tool_input))
  const traced = async (command: string) => {
    const payload = { tool_name: 'Bash', tool_input: { command } }
    const { body } = await gateway.dispatch('pre_tool_use', payload, { envelope: { cwd: own }, trace: true })
    return body.decision
  }
  return {
    home,
    own,
    other,
    file,
    gateway,
    says,
    traced,
    shell: (command: string) => says('Bash', { command }),
  }
}

/** A file with one script hook for every tool call. */
const answering = (answer: string, more = '') =>
  `hooks:\n  - event: pre_tool_use\n    name: guest\n    handler_type: script\n${more}    config: { source: 'function handle({ tool_input }) { return ${answer} }' }\n`

describe('the hooks of each folder that a call touches count', () => {
  test.each([
    ['cd into it', () => 'cd ../other && make'],
    ['a subshell in it', () => '(cd ../other/src; make); ls'],
    ['an absolute path into it', (other: string) => `cat ${other}/src/a.txt`],
    ['a file that is made in it', (other: string) => `echo x > ${other}/new/deep.txt`],
    ['a program that is given it', (other: string) => `git -C ${other} commit -m x`],
    ['a variable that names its repository', (other: string) => `GIT_DIR=${other}/.git git branch -D main`],
    ['an option that names it', (other: string) => `npm --prefix=${other} test`],
    ['a program from it', (other: string) => `${other}/src/tool`],
    ['what is above it', () => 'rm -rf ../*'],
    ['a link to it', () => 'cat link/a.txt'],
  ])('%s', async (_, command) => {
    const { own, other, shell } = await folders(refusing(NO))
    symlinkSync(join(other, 'src'), join(own, 'link'))
    expect(await shell(command(other))).toContain(NO)
    expect(await shell('ls; echo ../other')).not.toContain(NO)
  })

  test('also a path of a file tool, and a folder below the own one', async () => {
    const { home, own, other, says } = await folders(refusing(NO))
    hookFile(home, join(own, 'package'), refusing('the package says no'))
    expect(await says('Write', { file_path: `${other}/src/a.txt`, content: 'x' })).toContain(NO)
    expect(await says('Read', { file_path: `${own}/package/a.txt` })).toContain('the package says no')
    expect(await says('Read', { file_path: `${own}/src/a.txt` })).not.toContain('says no')
  })

  test('also where the agent names its folder only as its session begins', async () => {
    const { own, gateway } = await folders(refusing(NO))
    const lines = openLines(gateway.socket ?? '', { hookhelm: 1, agent: 'openclaw', pid: process.pid })
    const ask = async (id: number, event: string, native: object) => {
      lines.send({ id, event, native })
      return JSON.stringify(await lines.next())
    }
    await ask(1, 'before_agent_run', { event: { prompt: 'go' }, ctx: { sessionId: 's', workspaceDir: own } })
    const params = { command: 'echo yes > ../other/new.txt' }
    const native = { event: { toolName: 'exec', params }, ctx: { sessionId: 's', toolName: 'exec' } }
    expect(await ask(2, 'before_tool_call', native)).toContain(NO)
  })

  test.each(['workdir', 'dir_path', 'directory', 'working_directory', 'cwd'])(
    'also if the argument %s tells a shell tool to run in it',
    async (key) => {
      const { other, says } = await folders(refusing(NO))
      expect(await says('Bash', { command: 'make', [key]: '../other/src' })).toContain(NO)
      expect(await says('mcp__shell__run', { command: 'make', [key]: other })).toContain(NO)
      expect(await says('Bash', { command: 'make', [key]: 'src' })).not.toContain(NO)
    },
  )

  test('after its hook file is gone, as it was trusted', async () => {
    const { other, shell } = await folders(refusing(NO))
    rmSync(join(other, '.hookhelm'), { recursive: true })
    expect(await shell('cat ../other/a.txt')).toContain(NO)
  })

  test('its commands run there', async () => {
    const command = 'handler_type: command\n    config: { command: "pwd >&2; exit 2" }\n'
    const { other, shell } = await folders(`hooks:\n  - event: pre_tool_use\n    ${command}`)
    expect(await shell('cat ../other/a.txt')).toContain(JSON.stringify(JSON.stringify(other)).slice(1, -1))
  })

  test('also for permission requests and results of tools', async () => {
    const { gateway, own } = await folders(
      ['permission_request', 'post_tool_use']
        .map((event) => refusing(NO).replace('pre_tool_use', event))
        .join('')
        .replace(/(?!^)hooks:\n/, '')
        .replace('name: guard', 'name: first'),
    )
    const payload = { tool_name: 'Bash', tool_input: { command: 'ls ../other' } }
    const asked = await gateway.dispatch('permission_request', payload, { envelope: { cwd: own } })
    expect(asked.body.decision).toMatchObject({ kind: 'block', reason: NO })
    const told = await gateway.dispatch(
      'post_tool_use',
      { ...payload, tool_response: 'x' },
      { envelope: { cwd: own }, trace: true },
    )
    expect(told.body.decision.trace.hooks.some(({ name }: { name: string }) => name.includes('/other'))).toBe(
      true,
    )
  })

  test('`./` in its conditions means that folder', async () => {
    const { shell } = await folders(refusing(NO, "    matcher: 'Write(./prod.cfg)'\n"))
    expect(await shell('echo x > ../other/prod.cfg')).toContain(NO)
    expect(await shell('echo x > ../other/dev.cfg')).not.toContain(NO)
  })

  test('not at a gateway for many tenants, which runs no file of its machine', async () => {
    const { traced } = await folders(refusing(NO), undefined, { edition: 'standard' })
    expect(await traced('ls ../other')).toMatchObject({ kind: 'allow' })
  })
})

describe('hooks of another folder may object and nothing else', () => {
  test('a change and a permission are not applied, and the decision says so', async () => {
    const own = answering('({ decision: "allow", updatedInput: { command: tool_input.command + " # own" } })')
    const { other, traced } = await folders(
      answering('({ decision: "allow", grant: true, updatedInput: { command: "echo changed" } })'),
      own,
    )
    const decision = await traced('ls ../other')
    expect(decision).toMatchObject({ kind: 'allow', input: { command: 'ls ../other # own' } })
    expect(decision.grant).toBeUndefined()
    expect(decision.ignored).toEqual([
      { hook: `${other}/guest`, code: 'engine.other_folder', reason: expect.stringContaining(other) },
    ])
  })

  test('they ask', async () => {
    const { traced } = await folders(answering('({ decision: "ask", reason: "is it urgent?" })'))
    expect(await traced('ls ../other')).toMatchObject({ kind: 'ask', reason: 'is it urgent?' })
  })

  test.each([
    [9, NO],
    [-9, 'the own folder says no'],
  ])('priority orders them among those of the session: %i', async (priority, reason) => {
    const { traced } = await folders(
      refusing(NO, `    priority: ${priority}\n`),
      refusing('the own folder says no'),
    )
    expect(await traced('ls ../other')).toMatchObject({ kind: 'block', reason })
  })

  test('the same ids in both files are different hooks', async () => {
    const same = (reason: string) => refusing(reason, '    id: guard\n    matcher: "^Read$"\n')
    const { other, traced } = await folders(same(NO), same('own'))
    const { trace } = await traced('ls ../other')
    const ids = trace.hooks.map(({ hook }: { hook: string }) => hook)
    expect(ids).toEqual(expect.arrayContaining(['guard', `${other}/guard`]))
  })
})

test('a folder that is not trusted is named in the explanation and changes nothing', async () => {
  const { home, traced } = await folders(refusing(NO))
  mkdirSync(join(home, 'new', '.hookhelm'), { recursive: true })
  writeFileSync(join(home, 'new', '.hookhelm', 'hooks.yaml'), refusing('the new folder says no'))
  const decision = await traced('cat ../new/a.txt')
  expect(decision.kind).toBe('allow')
  expect(decision.trace.files).toEqual([
    `${join(home, 'new', '.hookhelm', 'hooks.yaml')} has no effect until you trust it: run \`hookhelm trust\``,
  ])
})

test('a hook file that cannot be read closes the gates for calls that touch its folder, and no others', async () => {
  const { home, shell } = await folders(refusing(NO))
  const broken = join(home, 'broken', '.hookhelm')
  mkdirSync(broken, { recursive: true })
  for (const name of ['hooks.yaml', 'hooks.json']) writeFileSync(join(broken, name), refusing('x'))
  expect(await shell('cat ../broken/a.txt')).toContain('keep one of them')
  expect(await shell('ls')).not.toContain('keep one of them')
  rmSync(join(broken, 'hooks.json'))
  expect(await shell('cat ../broken/a.txt')).not.toContain('deny')
})
