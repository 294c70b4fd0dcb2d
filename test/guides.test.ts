import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { handlerErrors } from '../src/engine/core/errors/handler-errors.ts'
import { errorTable } from '../src/index.ts'
import { fencedBlocks, readGuide } from './guides/read-guide.ts'
import { Scratch } from './guides/scratch.ts'
import type { GatewayReport, GatewayRequest } from './guides/through-gateway.ts'

const contributing = readFileSync('CONTRIBUTING.md', 'utf8')
const readme = readFileSync('README.md', 'utf8')

/** The files that each guide changes: the goal is as few as possible. */
const guides = {
  'Add an event': ['src/engine/events/workspace.ts'],
  'Add a hook field': [
    'src/engine/core/hook.ts',
    'src/engine/match/describe-conditions.ts',
    'src/engine/match/event-conditions.ts',
    'src/engine/match/matcher.ts',
  ],
  'Add a guard': ['src/engine/guard/guards.ts', 'src/engine/guard/session-cooldown.ts'],
  'Add a handler': ['src/handlers/deny.ts', 'src/handlers/handlers.ts'],
  'Add a method': ['src/cli/commands.ts', 'src/stored-hooks/hook-methods.ts'],
  'Add a stored thing': [
    'src/cli/commands.ts',
    'src/gateway/methods.ts',
    'src/store/operations.ts',
    'src/store/tables.ts',
    'src/teams/bookmark-methods.ts',
    'src/teams/bookmark-operations.ts',
    'src/teams/bookmark-table.ts',
  ],
  'Add a command': ['src/cli/commands.ts', 'src/cli/describe.ts'],
  'Add a shell program': ['src/shell/programs/databases.ts', 'test/shell/cases/network.yaml'],
  'Add a pack': ['packs/database-dumps.yaml', 'test/packs/cases/database-dumps.yaml'],
  'Add a view': [
    'ui/src/frame/navigation.ts',
    'ui/src/router.tsx',
    'ui/src/views/deliveries/deliveries-page.tsx',
  ],
  'Add an agent': [
    'src/agents/acme-cli/profile.ts',
    'src/agents/table.ts',
    'src/engine/core/coding-agents.ts',
  ],
} as const
type Title = keyof typeof guides
const titles = Object.keys(guides) as Title[]

const copies = new Map<Title, Scratch>()

/** A copy of the repository in which only this guide was followed. */
function copyWith(title: Title): Scratch {
  const existing = copies.get(title)
  if (existing !== undefined) return existing
  const scratch = new Scratch()
  scratch.follow(readGuide(contributing, title))
  copies.set(title, scratch)
  return scratch
}

afterAll(() => {
  for (const scratch of copies.values()) scratch[Symbol.dispose]()
})

describe.concurrent('each guide of CONTRIBUTING.md', () => {
  test.each(titles)('%s: changes only these files, and prints what the guide says', async (title) => {
    const { changes, commands, files, prints } = readGuide(contributing, title)
    expect(changes).toEqual(guides[title])
    const scratch = copyWith(title)
    const printed = files.has('try.ts') ? [await scratch.printed('try.ts')] : []
    for (const line of commands) {
      const [program, ...words] = line.split(' ')
      expect(program).toBe('bin/hookhelm')
      printed.push((await scratch.hookhelm(...words)).stdout)
    }
    expect(withoutTrailingSpace(printed.join(''))).toBe(prints)
  })

  test('Add an event: hook files may use it, and the command line dispatches it', async () => {
    const scratch = copyWith('Add an event')
    const hook = { event: 'branch_merge', matcher: '^main$', ...blocking }
    expect(await problemsOf(scratch, hook)).toEqual([])
    expect(await problemsOf(scratch, { ...hook, event: 'branch_murge' })).toEqual([
      expect.stringContaining('branch_murge'),
    ])
    const payloads = [
      { branch: 'fix-1', into: 'main' },
      { branch: 'fix-1', into: 'next' },
    ]
    expect(await dispatch(scratch, hook, payloads)).toEqual(['block not today', 'allow'])
  })

  test('Add a hook field: hook files and stored hooks may use it, and lists say it in words', async () => {
    const scratch = copyWith('Add a hook field')
    const hook = { event: 'pre_tool_use', in_runs: true, ...blocking }
    expect(await problemsOf(scratch, hook)).toEqual([])
    expect(await problemsOf(scratch, { ...hook, in_runs: 'yes' })).toEqual([
      expect.stringContaining('in_runs'),
    ])
    const command = ['list', '--json', 'pre_tool_use']
    const { stored, decisions, printed } = await throughGateway(scratch, { hook, sessions: ['a'], command })
    expect(stored).toMatchObject({ in_runs: true })
    expect(decisions).toEqual(['allow'])
    expect(JSON.parse(printed).hooks).toContainEqual(expect.objectContaining({ applies_to: 'in runs' }))
  })

  test('Add a stored thing: both doors, the command line and OpenAPI have it', async () => {
    const scratch = copyWith('Add a stored thing')
    const command = ['bookmarks', 'set', 'e1', '--note', 'look', '--json']
    const { paths, printed } = await throughGateway(scratch, {
      hook: { event: 'stop', ...blocking },
      sessions: [],
      command,
    })
    expect(paths).toContain('/v1/bookmarks/{event_id}')
    expect(JSON.parse(printed)).toEqual({ event_id: 'e1' })
  })

  test('Add a guard: hook files and stored hooks may use its field, within its range', async () => {
    const scratch = copyWith('Add a guard')
    const hook = { event: 'pre_tool_use', session_cooldown_ms: 60_000, ...blocking }
    expect(await problemsOf(scratch, hook)).toEqual([])
    expect(await problemsOf(scratch, { ...hook, session_cooldown_ms: -1 })).toEqual([
      expect.stringContaining('session_cooldown_ms'),
    ])
    const { stored, decisions } = await throughGateway(scratch, { hook, sessions: ['a', 'b', 'a'] })
    expect(stored).toMatchObject({ session_cooldown_ms: 60_000 })
    expect(decisions).toEqual(['block not today', 'block not today', 'allow'])
  })

  test('Add a handler: hook files and stored hooks may use it', async () => {
    const scratch = copyWith('Add a handler')
    const hook = { event: 'pre_tool_use', handler_type: 'deny', config: { reason: 'not like this' } }
    expect(await problemsOf(scratch, hook)).toEqual([])
    expect(await problemsOf(scratch, { ...hook, config: { reason: '' } })).toEqual([
      expect.stringContaining('reason'),
    ])
    expect(await dispatch(scratch, hook, [toolCall])).toEqual(['block not like this'])
    const { decisions } = await throughGateway(scratch, { hook, sessions: ['a'] })
    expect(decisions).toEqual(['block not like this'])
  })

  test('Add a method: OpenAPI, the command line and completion have it', async () => {
    const scratch = copyWith('Add a method')
    const hook = { event: 'stop', ...blocking }
    const command = ['hooks', 'count', '--scope', 'tenant', '--json']
    const { paths, printed } = await throughGateway(scratch, { hook, sessions: [], command })
    expect(paths).toContain('/v1/hook-counts')
    expect(JSON.parse(printed)).toEqual({ counts: { stop: 1 } })
    const [help, completion] = await Promise.all([
      scratch.hookhelm('hooks', '--help'),
      scratch.hookhelm('completion', 'bash'),
    ])
    expect(help.stdout).toMatch(/count +The number of hooks per event/)
    expect(completion.stdout).toMatch(/2:hooks\) words='.* count'/)
  })

  test('Add a command: --help and completion list it, and it reports errors', async () => {
    const scratch = copyWith('Add a command')
    const [help, completion, json, unknown] = await Promise.all([
      scratch.hookhelm('--help'),
      scratch.hookhelm('completion', 'bash'),
      scratch.hookhelm('describe', 'stop', '--json'),
      scratch.hookhelm('describe', 'stopp'),
    ])
    expect(help.stdout).toMatch(/^ +describe +Describe an event$/m)
    expect(completion.stdout).toMatch(/1:\*\) words='.*\bdescribe\b/)
    expect(JSON.parse(json.stdout)).toMatchObject({ name: 'stop', mode: 'gate' })
    expect(unknown).toMatchObject({ exit: 1, stderr: expect.stringContaining('did you mean stop?') })
  })

  test('Add a shell program: the command line has its effects', async () => {
    const { stdout } = await copyWith('Add a shell program').hookhelm('shell', '--json', 'sqlcmd -S db.test')
    expect(JSON.parse(stdout)).toMatchObject({ hosts: [{ host: 'db.test', by: 'sqlcmd' }] })
  })

  test('Add a pack: it is listed with its sentence, and can be added', async () => {
    const scratch = copyWith('Add a pack')
    const [listed, shown] = await Promise.all([
      scratch.hookhelm('add', '--list'),
      scratch.hookhelm('add', 'database-dumps', '--user', '--dry-run'),
    ])
    expect(listed.stdout).toMatch(/database-dumps .*Database dumps that leave the machine\./)
    expect(shown.stdout + shown.stderr).toMatch(/id\W+database-dumps\/uploaded/)
  })

  test('Add an agent: it can be connected, its hooks imported, and validate knows its limits', async () => {
    const scratch = copyWith('Add an agent')
    scratch.write('home/.acme/hooks.json', JSON.stringify({ hooks: { BeforeTool: [{ command: 'check' }] } }))
    scratch.write('checked.json', hookFile({ event: 'user_prompt_submit', ...blocking }))
    const [connected, imported, validated] = await Promise.all([
      scratch.hookhelm('connect', 'acme-cli', '--dry-run'),
      scratch.hookhelm('import', 'acme-cli'),
      scratch.hookhelm('validate', 'checked.json', '--agent', 'acme-cli'),
    ])
    expect(connected.stdout).toMatch(/acme-cli BeforeTool .*--socket/)
    expect(imported.stdout).toMatch(/event: pre_tool_use\n(.*\n)*.*command: check/)
    expect(validated.stderr).toContain('user_prompt_submit never comes from Acme CLI')
  })
})

const toolCall = { tool_name: 'Bash', tool_input: { command: 'make' } }
const blocking = {
  handler_type: 'script',
  config: { source: 'function handle() { return { decision: "block", reason: "not today" } }' },
}

const hookFile = (hook: object) => JSON.stringify({ version: 1, hooks: [hook] })

/** What `hookhelm validate` says about a hook file. */
async function problemsOf(scratch: Scratch, hook: object): Promise<readonly string[]> {
  scratch.write('checked.json', hookFile(hook))
  const { exit, stdout } = await scratch.hookhelm('validate', 'checked.json', '--json')
  const { problems } = JSON.parse(stdout) as { readonly problems: readonly object[] }
  expect(exit).toBe(problems.length === 0 ? 0 : 1)
  return problems.map((problem) => JSON.stringify(problem))
}

/** The decisions of `hookhelm dispatch` with this hook in the user's hook file. */
function dispatch(
  scratch: Scratch,
  hook: { readonly event: string },
  payloads: readonly object[],
): Promise<readonly string[]> {
  scratch.write('home/hooks.json', hookFile(hook))
  return Promise.all(
    payloads.map(async (payload) => {
      const words = ['dispatch', hook.event, '--payload', JSON.stringify(payload)]
      const { stdout } = await scratch.hookhelm(...words)
      const { kind, reason = '' } = JSON.parse(stdout) as { readonly kind: string; readonly reason?: string }
      return `${kind} ${reason}`.trim()
    }),
  )
}

/** Stores the hook in a gateway of the copy and sends it events. */
async function throughGateway(
  scratch: Scratch,
  {
    hook,
    sessions,
    command = ['--version'],
  }: Omit<GatewayRequest, 'payload' | 'command'> & Partial<GatewayRequest>,
): Promise<GatewayReport> {
  const request: GatewayRequest = { hook, sessions, command, payload: toolCall }
  return JSON.parse(await scratch.printed('test/guides/through-gateway.ts', JSON.stringify(request)))
}

describe('README.md', () => {
  test('has exactly two set-up commands, each on one line in a block of its own', () => {
    const commands = fencedBlocks(readme).map(({ code }) => code)
    expect(commands.filter((code) => code.includes('npm install &&'))).toEqual([
      'npm install && npm start\n',
      'npm install && npm test\n',
    ])
  })

  test('"Use the library" compiles and prints what it says', async () => {
    const guide = readGuide(readme, 'Use the library')
    using scratch = new Scratch()
    scratch.follow(guide)
    const [errors, printed] = await Promise.all([scratch.typeErrors(), scratch.printed('try.ts')])
    expect(errors).toBe('')
    expect(printed).toBe(guide.prints)
    expect(guide.files.get('try.ts')?.trimEnd().split('\n').length).toBeLessThanOrEqual(12)
  })
})

const written = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'docs/lifecycle.md',
  'docs/library.md',
  'docs/hook-files.md',
  'docs/matchers.md',
  'docs/cli.md',
  'docs/gateway.md',
  'docs/agents.md',
  'docs/sdk.md',
  'docs/mcp.md',
]

test.each(written)('%s names no file that is not there', (page) => {
  const text = readFileSync(page, 'utf8').replace(/^```[\s\S]*?^```$/gm, '')
  const links = [...text.matchAll(/\]\(([^):#]+)\)/g)].map(([, to = '']) => join(dirname(page), to))
  const named = [...text.matchAll(/`((?:src|test|scripts|examples|docs)(?:\/[\w-][\w.-]*)+)`/g)]
  const paths = [...links, ...named.map(([, path = '']) => path)]
  expect(paths.filter((path) => !existsSync(path))).toEqual([])
})

test('docs/lifecycle.md has a place for every code that a dispatch can meet', () => {
  const page = readFileSync('docs/lifecycle.md', 'utf8')
  const known = { ...errorTable, ...handlerErrors }
  const met = Object.keys(known).filter((code) => /^(input|guard|handler|engine)\./.test(code))
  expect(met.filter((code) => !page.includes(code))).toEqual([])
  const codes = [...page.matchAll(/\b(?:input|match|guard|handler|engine)\.[a-z0-9_]+/g)].map(
    ([code]) => code,
  )
  expect(codes.filter((code) => !Object.hasOwn(known, code))).toEqual([])
})

function withoutTrailingSpace(text: string): string {
  return text.replace(/ +$/gm, '')
}
