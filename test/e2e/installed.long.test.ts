import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { buildPackages, type InstalledProject, installCore, installHookhelm } from './installed.fixture.ts'

const HANG_GUARD = 600_000
let hookhelm: InstalledProject
let core: InstalledProject

beforeAll(() => {
  buildPackages()
  hookhelm = installHookhelm()
  core = installCore()
}, HANG_GUARD)
afterAll(() => {
  for (const { folder } of [hookhelm, core]) rmSync(folder, { recursive: true, force: true })
})

const main = () => join(hookhelm.package, 'dist/cli/main.js')
const run = (...args: readonly string[]) => hookhelm.node([main(), ...args])
const call = (tool: string, input: object) => ['--tool', tool, '--input', JSON.stringify(input)]

/** Runs a module in a project and returns what it prints as JSON. */
function evaluate({ folder, node }: InstalledProject, source: string): unknown {
  const file = join(folder, 'try.mjs')
  writeFileSync(file, source)
  const { code, stdout, stderr } = node([file])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}

describe('hookhelm as installed', { timeout: HANG_GUARD }, () => {
  test('--version, --help and completion load no command', () => {
    const hooks = join(hookhelm.folder, 'count.mjs')
    writeFileSync(
      hooks,
      `import { registerHooks } from 'node:module'
      let count = 0
      registerHooks({ load: (url, context, next) => { if (url.startsWith('file:')) count++; return next(url, context) } })
      process.on('exit', () => process.stderr.write(String(count)))`,
    )
    const modules = (...args: readonly string[]) =>
      Number(hookhelm.node(['--import', hooks, main(), ...args]).stderr)
    expect(run('--version').stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect(modules('--version')).toBeLessThanOrEqual(6)
    expect(modules('--help')).toBeLessThanOrEqual(6)
    expect(modules('completion', 'bash')).toBeLessThanOrEqual(6)
  })

  test('the folder with compiled code is private under any umask', () => {
    const before = process.umask(0)
    try {
      expect(run('list', '--help')).toMatchObject({ code: 0 })
    } finally {
      process.umask(before)
    }
    for (const folder of ['', 'compiled'])
      expect(statSync(join(hookhelm.folder, '.cache/hookhelm', folder)).mode & 0o777).toBe(0o700)
  })

  test('the commands of the README work', () => {
    expect(run('init')).toMatchObject({ code: 0 })
    expect(run('list')).toMatchObject({ code: 0, stdout: expect.stringContaining('no-force-push') })
    expect(run('validate')).toMatchObject({ code: 0, stderr: expect.stringContaining('1 of 1') })
    const deleting = run(
      'explain',
      'pre_tool_use',
      ...call('Bash', { command: 'cd app && git push --force' }),
    )
    expect(deleting).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('BLOCK by no-force-push'),
    })
    const secret = run('dispatch', 'pre_tool_use', ...call('Write', { file_path: 'app/.env' }))
    expect(JSON.parse(secret.stdout)).toMatchObject({ kind: 'block', by: 'no-secrets' })
    expect(run('add', 'force-push')).toMatchObject({ code: 0 })
    const pushed = run(
      'dispatch',
      'pre_tool_use',
      ...call('Bash', { command: 'B=+main; git push origin $B' }),
    )
    expect(JSON.parse(pushed.stdout)).toMatchObject({ kind: 'block', by: 'force-push/forced' })
    expect(run('add', 'secrets')).toMatchObject({ code: 0 })
    const shown = (file: string) =>
      JSON.parse(run('dispatch', 'pre_tool_use', ...call('Bash', { command: `cat config/${file}` })).stdout)
    expect(shown('.env')).toMatchObject({ kind: 'block', by: 'secrets/read-files' })
    expect(shown('.env.example')).toMatchObject({ kind: 'allow' })
  })

  test('the commands that need no gateway load no package', () => {
    const hooks = join(hookhelm.folder, 'packages.mjs')
    writeFileSync(
      hooks,
      `import { registerHooks } from 'node:module'
      const packages = new Set()
      registerHooks({ load: (url, context, next) => {
        const name = /\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\/(?!.*\\/node_modules\\/)/.exec(url)?.[1]
        if (name !== undefined && name !== 'hookhelm') packages.add(name)
        return next(url, context)
      } })
      process.on('exit', () => process.stderr.write('packages: ' + JSON.stringify([...packages])))`,
    )
    const packages = (...args: readonly string[]) => {
      const { stderr } = hookhelm.node(['--import', hooks, main(), ...args])
      return JSON.parse(stderr.slice(stderr.lastIndexOf('packages: ') + 10))
    }
    run('init')
    expect(packages('list')).toEqual([])
    expect(packages('validate')).toEqual([])
    expect(packages('explain', 'pre_tool_use', ...call('Read', {}))).toEqual([])
    expect(packages('dispatch', 'pre_tool_use', ...call('Read', {}))).toEqual([])
    // The way of counting sees packages: a gateway call needs one.
    expect(packages('status', '--url', 'http://127.0.0.1:1')).not.toEqual([])
  })

  test('the gateway starts with its embedded database, and agents can be connected to it', async () => {
    const { folder } = hookhelm
    const env = { PATH: process.env.PATH, HOME: folder, HOOKHELM_HOME: join(folder, 'own'), NO_COLOR: '1' }
    const gateway = spawn(process.execPath, [main(), 'up', '--port', '0', '--json', '--quiet'], {
      cwd: folder,
      env,
    })
    onTestFinished(() => {
      gateway.kill('SIGKILL')
    })
    await Promise.race([once(gateway.stdout, 'data'), once(gateway, 'exit')])
    const status = run('status')
    expect(status).toMatchObject({ code: 0, stdout: expect.stringContaining('ready') })
    expect(run('connect', 'opencode', '--dry-run')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('+'),
    })
    const node = run('connect', 'claude-code', '--client', 'node', '--dry-run')
    expect(node.stdout).toMatch(/hookhelm-hook\.cjs/)
    gateway.kill('SIGTERM')
    await once(gateway, 'exit')
  })

  test('a prompt hook without its model provider names the package to install', () => {
    const file = join(hookhelm.folder, 'own', 'hooks.yaml')
    onTestFinished(() => rmSync(file))
    writeFileSync(
      file,
      'hooks:\n  - id: judge\n    event: pre_tool_use\n    matcher: ^Judged$\n    handler_type: prompt\n    config: { prompt_template: Is this safe? }\n',
    )
    const env = `import { openLocal } from 'hookhelm/local'
      const env = { ...process.env, ANTHROPIC_API_KEY: 'x' }
      const local = await openLocal({ env })
      const decision = await local.hooks.dispatch('pre_tool_use', { tool_name: 'Judged', tool_input: {} })
      await local.close()
      console.log(JSON.stringify(decision))`
    expect(evaluate(hookhelm, env)).toMatchObject({
      kind: 'block',
      code: 'prompt.model',
      reason: expect.stringContaining('@ai-sdk/anthropic'),
    })
  })

  test('a PostgreSQL database without its driver names the package to install', () => {
    const { code, stderr } = run('up', '--port', '0', '--database', 'postgres://localhost/none')
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('npm install pg') })
  })

  test('a condition is compiled and explained by the bundled CEL', () => {
    expect(evaluate(hookhelm, withCondition('hookhelm'))).toEqual(['allow', 'block'])
  })

  test.each(globSync('examples/*.ts').map((path) => [basename(path, '.ts')]))(
    'the example %s runs, and prints the same as in a checkout',
    (name) => {
      const printed = execFileSync(process.execPath, [`examples/${name}.ts`], { encoding: 'utf8' })
      expect(hookhelm.node([join(hookhelm.package, `dist/examples/${name}.js`)])).toEqual({
        code: 0,
        stdout: printed,
        stderr: '',
      })
    },
  )

  test('every link of the README leads to a file of the package, but for pictures and pages about developing it', () => {
    const repositoryOnly = ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/conformance.md']
    const links = readFileSync(join(hookhelm.package, 'README.md'), 'utf8').matchAll(
      /\]\((?!https?:|#)([^)#]+)/g,
    )
    const missing = [...links]
      .map(([, link = '']) => link)
      .filter((link) => !repositoryOnly.includes(link) && !isThere(join(hookhelm.package, link)))
    expect(missing.filter((link) => !link.startsWith('docs/images/'))).toEqual([])
    expect(isThere(join(hookhelm.package, 'docs/images'))).toBe(false)
  })
})

describe('@hookhelm/core as installed', { timeout: HANG_GUARD }, () => {
  test('has no dependencies and weighs at most 3 MB', () => {
    const packages = readdirSync(join(core.folder, 'node_modules')).filter((name) => !name.startsWith('.'))
    expect(packages).toEqual(['@hookhelm'])
    expect(sizeOf(join(core.folder, 'node_modules'))).toBeLessThanOrEqual(3 * 1_048_576)
  })

  test('dispatches through each of its doors', () => {
    expect(evaluate(core, withCondition('@hookhelm/core'))).toEqual(['allow', 'block'])
    const openclaw = `import { createHookRunner } from '@hookhelm/core/openclaw'
      const handler = ({ params }) => (params.command === 'rm' ? { block: true, blockReason: 'no' } : undefined)
      const typedHooks = [{ pluginId: 'a', hookName: 'before_tool_call', handler, source: 'test' }]
      const runner = createHookRunner({ plugins: [{ id: 'a', status: 'loaded' }], hooks: [], typedHooks })
      const event = { toolName: 'exec', params: { command: 'rm' } }
      console.log(JSON.stringify(await runner.runBeforeToolCall(event, { toolName: 'exec' })))`
    expect(evaluate(core, openclaw)).toMatchObject({ block: true, blockReason: 'no' })
    const testing = `import { createHooks } from '@hookhelm/core'
      import { fakeClock, recorder } from '@hookhelm/core/testing'
      const seen = recorder()
      const hooks = createHooks({ clock: fakeClock(), sink: seen.sink })
      hooks.on('pre_tool_use', { if_expr: 'tool_name == "Bash"' }, () => undefined)
      await hooks.dispatch('pre_tool_use', { tool_name: 'Bash', tool_input: {} })
      console.log(JSON.stringify(seen.dispatches.length))`
    expect(evaluate(core, testing)).toBe(1)
  })

  test('has types that compile on their own', () => {
    const { folder } = core
    writeFileSync(
      join(folder, 'typed.ts'),
      `import { block, createHooks } from '@hookhelm/core'
      import { createHookRunner } from '@hookhelm/core/openclaw'
      import { faultyStore, fakeClock } from '@hookhelm/core/testing'
      const hooks = createHooks({ clock: fakeClock() })
      hooks.on('pre_tool_use', ({ tool_name }) => block(tool_name))
      // @ts-expect-error: there is no such field in the payload
      hooks.on('pre_tool_use', ({ tool_nam }) => block(tool_nam))
      export const all = [createHookRunner, faultyStore({ ping: async () => {} }).store.ping]`,
    )
    const compilerOptions = {
      strict: true,
      noEmit: true,
      module: 'nodenext',
      target: 'es2024',
      skipLibCheck: false,
      types: ['node'],
      typeRoots: [join(process.cwd(), 'node_modules/@types')],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['typed.ts'] }))
    const tsc = join(process.cwd(), 'node_modules/.bin/tsc')
    expect(() => execFileSync(tsc, ['-p', folder], { encoding: 'utf8', stdio: 'pipe' })).not.toThrow()
  })
})

function withCondition(name: string): string {
  return `import { block, createHooks } from '${name}'
    const hooks = createHooks()
    hooks.on('pre_tool_use', { if_expr: 'tool_input.command.contains("rm")' }, () => block('no'))
    const kinds = []
    for (const command of ['ls', 'rm x']) {
      const { kind } = await hooks.dispatch('pre_tool_use', { tool_name: 'Bash', tool_input: { command } })
      kinds.push(kind)
    }
    console.log(JSON.stringify(kinds))`
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined
}

function sizeOf(folder: string): number {
  return globSync('**/*', { cwd: folder }).reduce((sum, path) => {
    const stats = statSync(join(folder, path))
    return stats.isFile() ? sum + stats.size : sum
  }, 0)
}
