import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { detectFormat, importFile } from '../../src/agents/import-file.ts'
import { agentAdapters } from '../../src/agents/table.ts'
import type { Kind } from '../../src/engine/core/decision.ts'
import { HookError } from '../../src/engine/core/errors/error.ts'
import { printHookFile } from '../../src/hook-files/print-hook-file.ts'
import { parseSource, readHookText } from '../../src/hook-files/read/read-hook-file.ts'
import { refused } from '../hook-files/imported.fixture.ts'
import {
  eventOfAgent,
  fire,
  hooksOf,
  importableFiles,
  importExample,
  importSource,
} from './imported-hooks.fixture.ts'

/** Files whose content does not show the format: both formats, and the one that the user names. */
const ambiguous: Readonly<Record<string, readonly [format: string, ...fitting: string[]]>> = {
  'claude-code/keep-going.json': ['claude-code', 'claude-code', 'codex'],
  'claude-code/prompt-judge.json': ['claude-code', 'claude-code', 'codex'],
  'codex/ambiguous.json': ['codex', 'claude-code', 'codex'],
  'copilot-cli/ambiguous.json': ['copilot-cli', 'copilot-cli', 'cursor'],
  'gemini-cli/session-only.json': ['gemini-cli', 'claude-code', 'gemini-cli', 'codex'],
  'openharness/ambiguous-stop.json': ['openharness', 'openharness', 'cursor'],
}

/** Files that are refused as a whole: the pointer of the problem, and a part of its message. */
const refusals: Readonly<Record<string, readonly [pointer: string, message: string]>> = {
  'claude-code/windows-only.json': ['/hooks/PreToolUse/0/hooks/0', 'runs on Windows only'],
  'claude-code/mcp-tool.json': ['/hooks/PreToolUse/0/hooks/0', 'cannot be a hook'],
  'claude-code/duplicate-keys.json': ['', '"PreToolUse" is used twice'],
  'claude-code/unknown-event.json': ['/hooks/BeforeBash/0/hooks/0', 'unknown event "BeforeBash"'],
  'copilot-cli/powershell-only.json': ['/hooks/preToolUse/0', 'runs on Windows only'],
  'cursor/plugin-root.json': ['/hooks/beforeShellExecution/0', 'CURSOR_PLUGIN_ROOT is not set'],
  'cursor/list-form.json': ['', 'in none of the formats'],
  'gemini-cli/tool-selection.json': ['/hooks/BeforeToolSelection/0/hooks/0', 'would decide nothing'],
  'gemini-cli/without-groups.json': ['', 'in none of the formats'],
  'openharness/unknown-field.json': ['/hooks/pre_tool_use/0/block_on_failur', 'no field block_on_failur'],
  'openharness-seed/wrong-indentation.yaml': ['', ''],
}

/** The notes of the files that have some, by pointer. Every other file loses nothing. */
const notes: Readonly<Record<string, readonly string[]>> = {
  'claude-code/block-rm.json': ['/permissions'],
  'claude-code/lint-after-edit.json': ['/env'],
  'claude-code/notify.json': ['/statusLine'],
  'claude-code/byte-order-mark.json': [],
  'claude-code/plugin/hooks/hooks.json': ['/description'],
  'claude-code/async-once-status.json': [
    '/hooks/PreToolUse/0/hooks/0/statusMessage',
    '/hooks/PreToolUse/0/hooks/0/async',
    '/hooks/SessionStart/0/hooks/0/once',
  ],
  'claude-code/http-audit.json': ['/hooks/PostToolUse/0/hooks/0/headers'],
  'claude-code/keep-going.json': ['/hooks/SubagentStop/0/hooks/0', '/hooks/Stop/0/matcher'],
  'claude-code/empty.json': ['/model'],
  'codex/guard.json': ['/description', '/hooks/PreToolUse/0/hooks/0/commandWindows'],
  'codex/patch-guard.json': ['/hooks/PreToolUse/0/hooks/0/additionalContextLimit'],
  'codex/status-and-async.json': [
    '/hooks/PostToolUse/0/hooks/0/statusMessage',
    '/hooks/PostToolUse/0/hooks/0/additionalContextLimit',
    '/hooks/SessionStart/0/hooks/0/commandWindows',
    '/hooks/SessionStart/0/hooks/0',
  ],
  'codex/prompt-guard.json': ['/hooks/UserPromptSubmit/0/hooks/0/commandWindows'],
  'codex/feedback.json': ['/hooks/PostToolUse/0/hooks/0/commandWindows'],
  'gemini-cli/shell-guard.json': ['/ui'],
  'gemini-cli/older-switch.json': ['/hooks/enabled'],
  'gemini-cli/seconds-by-mistake.json': ['/hooks/AfterAgent/0/hooks/0/timeout'],
  'copilot-cli/policy.json': ['/hooks/preToolUse/0/powershell'],
  'copilot-cli/prompt-on-start.json': ['/hooks/sessionStart/0', '/hooks/userPromptSubmitted/0/comment'],
  'cursor/follow-up.json': ['/hooks/stop/0/loop_limit'],
  'cursor/observers.json': [
    '/hooks/afterAgentResponse/0',
    '/hooks/afterAgentThought/0',
    '/hooks/sessionStart/0',
    '/hooks/workspaceOpen/0',
  ],
  'openharness/settings.json': ['/model'],
  'goclaw/rows.json': ['/0/tenant_id'],
  'goclaw/list-answer.json': ['/hooks/0/config/headers', '/hooks/0/budget', '/next_cursor'],
  'quality-gates/agent.json': [
    '/other_config/quality_gates/0/block_on_failure',
    '/other_config/quality_gates/0/max_retries',
    '/other_config/theme',
  ],
}

const formatOf = (file: string) => ambiguous[file]?.[0] ?? file.slice(0, file.indexOf('/'))
const pointers = (all: readonly string[]) => all.map((note) => /^line \d+ (\S+): /.exec(note)?.[1]).toSorted()

describe.each(importableFiles().filter((file) => !(file in refusals)))('%s', (file) => {
  test('is recognised by its content, or refused with the names of both formats', () => {
    const { text } = importSource(file)
    const source = parseSource(text.replace(/^\uFEFF/, ''), file)
    const found = source instanceof HookError ? source : detectFormat(source.value)
    const [, ...fitting] = ambiguous[file] ?? []
    if (fitting.length === 0) return expect(found).toBe(formatOf(file))
    expect(found).toBeInstanceOf(HookError)
    for (const name of fitting) expect(String(found)).toContain(name)
  })

  test('becomes a hook file, and every field without an equivalent has a note', async () => {
    const { definitions, notes: found } = await importExample(file, formatOf(file))
    expect(readHookText(printHookFile({ hooks: definitions }, found), 'hooks.yaml')).toMatchObject({
      kind: 'good',
      file: { hooks: definitions },
    })
    expect(pointers(found)).toEqual([...(notes[file] ?? [])].toSorted())
  })
})

describe('a file that cannot be imported', () => {
  test.each(Object.entries(refusals))('%s', async (file, [pointer, message]) => {
    const [problem, ...others] = await refused(importFile(importSource(file)))
    expect(problem).toMatchObject({ pointer, message: expect.stringContaining(message) })
    expect(problem?.line).toBeGreaterThan(0)
    expect(others).toEqual([])
  })
})

const bash = (command: string) => ['pre_tool_use', { tool_name: 'Bash', tool_input: { command } }] as const
const write = (file_path: string, content = 'x') =>
  ['pre_tool_use', { tool_name: 'Write', tool_input: { file_path, content } }] as const
const tool = (tool_name: string, tool_input: object) => ['pre_tool_use', { tool_name, tool_input }] as const
const prompt = (text: string) => ['user_prompt_submit', { prompt: text }] as const
const stop = (active = false) => ['stop', { stop_hook_active: active, stop_reason: 'completed' }] as const

type Case = readonly [file: string, call: readonly [event: string, payload: object], want: Kind]

/** What each guard does with a call at its origin. It does the same here, whichever agent makes the call. */
const guards: readonly Case[] = [
  ['claude-code/block-rm.json', bash('rm -rf build'), 'block'],
  ['claude-code/block-rm.json', bash('ls'), 'allow'],
  ['claude-code/protect-files.json', write('/p/.env'), 'block'],
  ['claude-code/protect-files.json', write('/p/a.ts'), 'allow'],
  ['claude-code/json-deny.json', bash('git push --force origin'), 'block'],
  ['claude-code/json-deny.json', bash('git push origin'), 'allow'],
  ['claude-code/comments.json', bash('kubectl --context prod delete pod a'), 'block'],
  ['claude-code/comments.json', bash('kubectl get pods'), 'allow'],
  ['claude-code/plugin/hooks/hooks.json', bash('git commit -m x'), 'block'],
  ['claude-code/plugin/hooks/hooks.json', bash('git status'), 'allow'],
  ['claude-code/exit-1-with-json.json', bash('ls'), 'block'],
  ['claude-code/if-rule.json', bash('git push origin main'), 'block'],
  ['claude-code/if-rule.json', bash('git pull'), 'allow'],
  ['claude-code/fail-closed.json', bash('ls'), 'block'],
  ['claude-code/ask.json', bash('terraform apply'), 'ask'],
  ['claude-code/ask.json', bash('terraform plan'), 'allow'],
  ['claude-code/bashisms.json', bash('sudo ls'), 'block'],
  ['claude-code/bashisms.json', bash('ls'), 'allow'],
  ['claude-code/async-once-status.json', bash('ls'), 'allow'],
  ['claude-code/prompt-guard.json', prompt('my password is x'), 'block'],
  ['claude-code/prompt-guard.json', prompt('hello'), 'allow'],
  ['codex/guard.json', bash('npm publish'), 'block'],
  ['codex/guard.json', bash('npm test'), 'allow'],
  ['codex/patch-guard.json', write('/p/migrations/1.sql'), 'block'],
  ['codex/patch-guard.json', write('/p/a.sql'), 'allow'],
  ['codex/ambiguous.json', bash('ls'), 'block'],
  ['codex/prompt-guard.json', prompt('DROP TABLE users'), 'block'],
  ['gemini-cli/shell-guard.json', bash('rm -rf /'), 'block'],
  ['gemini-cli/shell-guard.json', bash('ls'), 'allow'],
  ['gemini-cli/write-guard.json', write('/p/server.pem'), 'block'],
  ['gemini-cli/write-guard.json', write('/p/a.ts'), 'allow'],
  ['gemini-cli/exit-3.json', bash('ls'), 'block'],
  ['gemini-cli/exit-3.json', write('/p/a.ts'), 'allow'],
  ['gemini-cli/answer-on-stderr.json', bash('ls'), 'block'],
  ['gemini-cli/disabled-by-name.json', write('/p/a.ts'), 'allow'],
  ['gemini-cli/env-and-order.json', bash('ls'), 'block'],
  ['gemini-cli/extension/hooks/hooks.json', bash('gcloud projects list'), 'block'],
  ['gemini-cli/extension/hooks/hooks.json', bash('ls'), 'allow'],
  ['copilot-cli/policy.json', bash('curl https://a.example'), 'block'],
  ['copilot-cli/policy.json', bash('ls'), 'allow'],
  ['copilot-cli/any-exit-blocks.json', bash('docker system prune'), 'block'],
  ['copilot-cli/any-exit-blocks.json', bash('docker ps'), 'allow'],
  ['copilot-cli/pascal-names.json', bash('ls'), 'block'],
  ['copilot-cli/pascal-names.json', write('/p/a.ts'), 'allow'],
  ['copilot-cli/folder-and-env.json', bash('ls'), 'block'],
  ['copilot-cli/progress.json', bash('ls'), 'block'],
  ['copilot-cli/matcher.json', write('src/a.ts'), 'block'],
  ['copilot-cli/matcher.json', bash('ls'), 'allow'],
  ['cursor/shell-guard.json', bash('git reset --hard HEAD~1'), 'block'],
  ['cursor/shell-guard.json', bash('git status'), 'allow'],
  ['cursor/shell-guard.json', write('/p/a.ts'), 'allow'],
  ['cursor/shell-matcher.json', bash('curl https://a.example'), 'ask'],
  ['cursor/shell-matcher.json', bash('ls'), 'allow'],
  ['cursor/fail-closed.json', write('/p/a.ts'), 'block'],
  ['cursor/submit-prompt.json', prompt('the secret is x'), 'block'],
  ['cursor/submit-prompt.json', prompt('hello'), 'allow'],
  ['cursor/tool-matcher.json', write('/p/generated/a.ts'), 'block'],
  ['cursor/tool-matcher.json', write('/p/a.ts'), 'allow'],
  ['cursor/conversation.json', bash('ls'), 'block'],
]

describe.each(guards)('%s: %j is %s', (file, [event, payload], want) => {
  const agents = agentAdapters.filter(({ events }) =>
    Object.values(events).some((row) => row.event === event),
  )
  test.each(agents.map(({ name }) => name))('from %s', async (agent) => {
    const hooks = await hooksOf(file, formatOf(file))
    const decision = await fire(hooks, eventOfAgent(agent, event, payload))
    expect(decision).toMatchObject({ kind: want })
    if (want === 'block') expect(decision.opened).toBeUndefined()
  })
})

const fromClaude = async (file: string, [event, payload]: Case[1]) =>
  fire(await hooksOf(file, formatOf(file)), eventOfAgent('claude-code', event, payload))

describe('guards of one agent’s events', () => {
  test.each<Case>([
    ['claude-code/byte-order-mark.json', tool('WebFetch', { url: 'https://a.example' }), 'block'],
    ['claude-code/mcp-regex.json', tool('mcp__github__delete_repo', {}), 'block'],
    ['claude-code/mcp-regex.json', tool('mcp__github__list', {}), 'allow'],
    ['cursor/mcp-guard.json', tool('mcp__github__delete_repo', {}), 'block'],
    ['cursor/mcp-guard.json', tool('mcp__github__push', { force: true }), 'block'],
    ['cursor/mcp-guard.json', tool('mcp__github__push', { force: false }), 'allow'],
    ['cursor/fail-closed.json', tool('Delete', { file_path: '/p/a' }), 'block'],
    ['cursor/read-secrets.json', tool('Read', { file_path: 'keys.txt' }), 'block'],
    ['cursor/read-secrets.json', tool('Read', { file_path: '.cursor/hooks/shell-guard.sh' }), 'allow'],
    [
      'copilot-cli/program.json',
      tool('Edit', { file_path: '/p/a', old_string: 'a', new_string: 'b' }),
      'block',
    ],
    ['claude-code/keep-going.json', stop(), 'block'],
    ['claude-code/keep-going.json', stop(true), 'allow'],
    ['cursor/follow-up.json', stop(), 'block'],
    ['openharness/settings.json', tool('bash', { command: 'shutdown now' }), 'block'],
    ['openharness/settings.json', tool('bash', { command: 'ls' }), 'allow'],
    ['openharness-seed/hooks.yaml', tool('Read', { file_path: '/p/secret.txt' }), 'block'],
    ['goclaw/rows.json', bash('ls'), 'block'],
  ])('%s: %j is %s', async (file, call, want) => {
    expect(await fromClaude(file, call)).toMatchObject({ kind: want })
  })
})

describe('what a hook says keeps its meaning', () => {
  test('a reason for the user and one for the model', async () => {
    const decision = await fromClaude('cursor/shell-guard.json', bash('git reset --hard'))
    expect(decision).toMatchObject({ reason: 'history is kept', message: 'do not reset' })
  })

  test('a changed input has our names and the changed value', async () => {
    const decision = await fromClaude('claude-code/rewrite.json', bash('npm publish'))
    expect(decision).toMatchObject({ kind: 'allow', input: { command: 'npm publish --dry-run' } })
  })

  test('plain text at the start of a session is context', async () => {
    const decision = await fromClaude('claude-code/session-context.json', [
      'session_start',
      { source: 'resume' },
    ])
    expect(decision.context).toEqual(['branch: main'])
    const cleared = await fromClaude('claude-code/session-context.json', [
      'session_start',
      { source: 'clear' },
    ])
    expect(cleared.context).toBeUndefined()
  })

  const ranTool = (tool_name: string, tool_input: object, tool_response: unknown) =>
    ['post_tool_use', { tool_name, tool_input, tool_response }] as const

  test('Claude Code: a block after a call is a note for the model', async () => {
    const edit = ranTool('Edit', { file_path: '/p/a.ts', old_string: 'a', new_string: 'b' }, {})
    const decision = await fromClaude('claude-code/lint-after-edit.json', edit)
    expect(decision).toMatchObject({
      kind: 'allow',
      context: ['lint: /p/a.ts has an unused import\n'.trim()],
    })
  })

  test('Codex and Gemini CLI: a block after a call replaces the output', async () => {
    const codex = await fromClaude('codex/feedback.json', ranTool('Bash', { command: 'ls' }, 'secret'))
    expect(codex).toMatchObject({ kind: 'allow', input: 'the output was withheld' })
    const read = ranTool('Read', { file_path: 'a' }, 'AKIA1234')
    const gemini = await fromClaude('gemini-cli/after-tool.json', read)
    expect(gemini).toMatchObject({ kind: 'allow', input: 'the file holds a key' })
  })

  test('Cursor: a formatter after an edit gets the file and the edits', async () => {
    const home = mkdtempSync(join(tmpdir(), 'hookhelm-import-'))
    vi.stubEnv('HOME', home)
    const edit = ranTool('Edit', { file_path: '/p/a.ts', old_string: 'a', new_string: 'b' }, {})
    await fromClaude('cursor/format-after-edit.json', edit)
    vi.unstubAllEnvs()
    expect(readFileSync(join(home, 'edited.txt'), 'utf8')).toBe('/p/a.ts\nb\n')
  })

  test('Gemini CLI: 5000 is five seconds', async () => {
    const { definitions } = await importExample('gemini-cli/shell-guard.json')
    expect(definitions).toMatchObject([{ timeout_ms: 5_000, name: 'shell-guard' }])
  })
})

test('at least 40 files are imported', () => {
  expect(importableFiles().length).toBeGreaterThanOrEqual(40)
})
