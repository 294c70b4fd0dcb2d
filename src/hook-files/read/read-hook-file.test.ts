import { describe, expect, test } from 'vitest'
import { HookError } from '../../engine/core/errors/error.ts'
import type { Handler } from '../../engine/core/handler.ts'
import { formatProblem, problemsError } from '../file-problem.ts'
import { type ReadHookTextOptions, readHookText } from './read-hook-file.ts'

function problemsOf(text: string, path = 'hooks.yaml', options: ReadHookTextOptions = {}) {
  const result = readHookText(text, path, options)
  return result.kind === 'bad' ? result.problems : []
}

/** One hook with these lines added to a command hook. */
const hook = (...lines: string[]) =>
  [
    'hooks:',
    '  - event: pre_tool_use',
    '    handler_type: command',
    '    config: { command: "true" }',
    ...lines.map((line) => `    ${line}`),
  ].join('\n')

describe('a good file', () => {
  test('is read from YAML and from JSON with comments alike', () => {
    const yaml = readHookText(
      '# why\nversion: 1\nhooks:\n  - { event: stop, handler_type: http, config: { url: "https://a.example" } }\n',
      'hooks.yaml',
    )
    const json = readHookText(
      '\uFEFF// why\n{ "version": 1, "hooks": [ { "event": "stop", "handler_type": "http", "config": { "url": "https://a.example" } }, ] /* end */ }',
      'hooks.json',
    )
    expect(yaml).toEqual(json)
    expect(yaml).toMatchObject({ kind: 'good', file: { hooks: [{ event: 'stop' }] } })
  })

  test('reads continue and ignore as allow, and leaves scope and enabled to their defaults', () => {
    const result = readHookText(
      hook('on_error: continue', 'on_timeout: ignore', 'on_invalid: block'),
      'hooks.yaml',
    )
    expect(result).toEqual({
      kind: 'good',
      file: {
        hooks: [
          {
            event: 'pre_tool_use',
            handler_type: 'command',
            config: { command: 'true' },
            on_error: 'allow',
            on_timeout: 'allow',
            on_invalid: 'block',
          },
        ],
      },
    })
  })

  test('4.2 #36 may hold no hooks', () => {
    expect(readHookText('hooks: []\n', 'hooks.yaml').kind).toBe('good')
  })
})

describe('every problem is named with its place', () => {
  test('4.2 #21 a syntax error carries file, line and column', () => {
    const [problem] = problemsOf('hooks:\n  - event: [', '/repo/.hookhelm/hooks.yaml')
    expect(problem).toMatchObject({ code: 'config.syntax', line: 2, column: 13 })
    expect(formatProblem(problem!)).toMatch(/^\/repo\/\.hookhelm\/hooks\.yaml:2:13 config\.syntax: /)
    expect(problemsError([problem!])).toMatchObject({
      code: 'config.syntax',
      at: '/repo/.hookhelm/hooks.yaml:2:13',
    })
  })

  test('4.2 #30 a duplicate id, an unknown field and version 9, with what was meant', () => {
    const text =
      'version: 9\nhooks:\n  - id: a\n    event: stop\n    handler_type: script\n    config: { source: x }\n    mathcer: x\n  - id: a\n    event: stop\n    handler_type: script\n    config: { source: x }\n'
    expect(
      problemsOf(text).map(({ line, column, pointer, code, hint }) => [line, column, pointer, code, hint]),
    ).toEqual([
      [1, 10, '/version', 'config.range', expect.any(String)],
      [7, 5, '/hooks/0/mathcer', 'config.field', 'Did you mean matcher?'],
      [8, 9, '/hooks/1/id', 'config.duplicate_id', expect.any(String)],
    ])
  })

  test.each(['-1', '.nan', '"5s"', '0', '600001', '1.5'])(
    '4.2 #31 timeout_ms %s is out of range',
    (value) => {
      expect(problemsOf(hook(`timeout_ms: ${value}`))).toMatchObject([
        {
          code: 'config.range',
          line: 5,
          column: expect.any(Number),
          pointer: '/hooks/0/timeout_ms',
          message: 'timeout_ms must be a whole number from 1 to 600000',
        },
      ])
    },
  )

  test('4.2 #31 a file may go beyond the ten seconds of the gateway', () => {
    expect(problemsOf(hook('timeout_ms: 10001'))).toEqual([])
  })

  const prompt = (lines: string) =>
    `hooks:\n  - event: pre_tool_use\n    handler_type: prompt\n    config: { prompt_template: safe? }\n${lines}`

  test('4.2 #32 GC-14 a prompt hook needs a condition', () => {
    expect(problemsOf(prompt(''))).toMatchObject([
      { code: 'config.prompt_needs_matcher', line: 3, pointer: '/hooks/0/handler_type' },
    ])
    expect(problemsOf(prompt('    matcher: ""\n    match: { names: [] }\n'))).toMatchObject([
      { code: 'config.prompt_needs_matcher' },
    ])
    expect(problemsOf(prompt('    matcher: ^exec$\n'))).toEqual([])
    expect(problemsOf(prompt('    if_expr: depth > 0\n'))).toEqual([])
    expect(problemsOf(prompt('    match: { glob: "mcp__*" }\n'))).toEqual([])
  })

  test('GC-14 a prompt hook needs a question', () => {
    expect(
      problemsOf('hooks: [{ event: stop, handler_type: prompt, matcher: a, config: {} }]'),
    ).toMatchObject([{ code: 'config.field', pointer: '/hooks/0/config/prompt_template' }])
  })

  test.each([
    ['rules', 'hook-chains.json'],
    ['blueprints', 'agents/NAME/agent.json'],
  ])('%s belong in another file, which is named', (key, home) => {
    expect(problemsOf(`hooks: []\n${key}: []\n`)).toMatchObject([
      { code: 'config.field', line: 2, pointer: `/${key}`, message: expect.stringContaining(home) },
    ])
  })

  test('an unknown event has its nearest name as the hint', () => {
    expect(
      problemsOf('hooks:\n  - event: pre_tol_use\n    handler_type: script\n    config: { source: x }\n'),
    ).toMatchObject([
      { code: 'input.unknown_event', line: 2, column: 12, hint: 'did you mean pre_tool_use?' },
    ])
  })

  test('GC-16 a matcher and a condition that do not compile are shown where they break', () => {
    const found = problemsOf(
      hook('matcher: "^(exec|shell"', 'if_expr: |', '  tool_name == "x" &&', '    nobody == 1'),
    )
    expect(found).toMatchObject([
      { code: 'match.syntax', line: 5, column: 27, pointer: '/hooks/0/matcher' },
      { code: 'match.cel_type', line: 8, column: 9, pointer: '/hooks/0/if_expr' },
    ])
  })

  test('the place inside a text is found in JSON too, and behind escapes at least the text itself', () => {
    const json =
      '{ "hooks": [ { "event": "stop", "handler_type": "script", "config": { "source": "x" },\n "matcher": "ab(c", "if_expr": "\\u0074rue &&" } ] }'
    expect(problemsOf(json, 'hooks.json')).toMatchObject([
      { code: 'match.syntax', line: 2, column: 18 },
      { code: 'match.cel_syntax', line: 2, column: 32 },
    ])
  })

  test('names in a list are pointed at one by one', () => {
    expect(problemsOf(hook('match: { names: [Edit, "(bad"] }'))).toMatchObject([
      { code: 'match.syntax', pointer: '/hooks/0/match/names/1' },
    ])
  })

  test.each([
    ['', 'the file is empty'],
    ['# only a comment\n', 'the file is empty'],
    ['hooks:\n', 'hooks must be a list'],
    ['version: 1\n', 'hooks is required'],
    ['just text', 'the file must be an object'],
    ['hooks: [7]', 'entry 1 of hooks must be an object'],
    ['hooks: [{ event: stop }]', 'handler_type is required'],
    [
      'hooks: [{ event: stop, handler_type: own, scope: agent }]',
      'scope agent needs at least one agent in agent_ids',
    ],
    [
      'hooks: [{ event: stop, handler_type: command }]',
      'config.command is required: a shell line, or exec with a list of arguments',
    ],
    [
      'hooks: [{ event: stop, handler_type: command, config: { command: a, exec: [a] } }]',
      'config has both command and exec; only one is allowed',
    ],
    ['hooks: [{ event: stop, handler_type: http, config: { url: 5 } }]', 'url must be text'],
  ])('%j: %s', (text, message) => {
    expect(problemsOf(text).map((problem) => problem.message)).toEqual([message])
  })
})

describe('handlers that are known read their config at once', () => {
  const shout: Handler = {
    type: 'shout',
    read(config) {
      throw new HookError('config.field', `config.word must be loud, not ${JSON.stringify(config)}`, {
        at: 'config.word',
      })
    },
    run: () => undefined,
  }

  test('what they object to is shown where it stands', () => {
    const text = 'hooks:\n  - event: stop\n    handler_type: shout\n    config:\n      word: quiet\n'
    expect(problemsOf(text, 'hooks.yaml', { handlers: [shout] })).toMatchObject([
      { code: 'config.field', line: 5, column: 13, pointer: '/hooks/0/config/word' },
    ])
    expect(problemsOf(text)).toEqual([])
  })

  test('a type that nobody handles has the nearest one as the hint', () => {
    expect(
      problemsOf('hooks: [{ event: stop, handler_type: shuot }]', 'hooks.yaml', { handlers: [shout] }),
    ).toMatchObject([{ code: 'config.unknown_handler', hint: 'Did you mean shout?' }])
  })
})

test('4.2 #35 ten thousand hooks are read in less than a second', () => {
  const hooks = Array.from({ length: 10_000 }, (_, i) => ({
    event: 'pre_tool_use',
    handler_type: 'script',
    matcher: `^t${i}$`,
    config: { source: 'x' },
  }))
  const text = JSON.stringify({ hooks })
  expect(text.length).toBeLessThan(1_048_576)
  const took = Array.from({ length: 2 }, () => {
    // Our own time only: the machine may have other things to do.
    const before = process.threadCpuUsage()
    expect(readHookText(text, 'hooks.json').kind).toBe('good')
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1_000
  })
  expect(Math.min(...took)).toBeLessThan(1_000)
})
