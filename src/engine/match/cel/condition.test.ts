import { describe, expect, test } from 'vitest'
import { catchHookError, eventInput, matches, toolCallInput } from '../../../../test/engine/match.fixture.ts'
import type { MatchInput } from '../match-part.ts'
import { compileCondition } from './condition.ts'

const input = toolCallInput(
  'Bash',
  { command: 'git push', n: 5, ratio: 0.5, list: [1, 2, 3], deep: { key: 'x' }, none: null },
  {
    depth: 1,
    agent: 'scout',
    agentId: 'a1',
    session: 's',
    run: 'r',
    turn: 't',
    tenant: 'x',
    host: 'h',
    cwd: '/w',
  },
)
const holds = (expr: string, on: MatchInput = input): boolean => matches({ if_expr: expr }, on)
const evalError = (expr: string, on: MatchInput = input) => catchHookError(() => holds(expr, on))

describe('if_expr', () => {
  test.each([
    'tool_name == "Bash" && size(tool_input.command) > 4',
    'tool_input.command.startsWith("git") && tool_input["command"].contains("push")',
    'tool_input.command.matches("^git (push|pull)")',
    'has(tool_input.command) && !has(tool_input.cmd)',
    'tool_input.list.all(x, x > 0) && tool_input.list.exists(x, x == 2) && tool_input.list.exists_one(x, x == 3)',
    'tool_input.list.map(x, x * 2) == [2, 4, 6] && tool_input.list.filter(x, x > 1).size() == 2',
    '2 in tool_input.list && "n" in tool_input && tool_input.deep == {"key": "x"}',
    'tool_input.all(key, key != "script")',
    'type(tool_input.n) == int && type(tool_input.ratio) == double && tool_input.none == null',
    'tool_input.deep.key == "x" ? true : false',
    'false || tool_input.missing == 1 || true',
  ])('GC-20 understands %s', (expr) => {
    expect(holds(expr)).toBe(true)
  })

  test.each([
    'depth + 1 == 2',
    'tool_input.n == 5',
    'tool_input.n + 1 > 5',
    'tool_input.ratio < tool_input.n',
  ])('JSON integers are ints: %s', (expr) => {
    expect(holds(expr)).toBe(true)
  })

  test.each([
    '"Ab".lowerAscii() == "ab" && "Ab".upperAscii() == "AB" && " a ".trim() == "a"',
    '"a,b,c".split(",") == ["a", "b", "c"] && "a,b,c".split(",", 2) == ["a", "b,c"]',
    '"a,b".split(",", 0) == [] && "a,b".split(",", -1).size() == 2 && "ab".split("") == ["a", "b"]',
    '"aaa".replace("a", "b") == "bbb" && "aaa".replace("a", "b", 2) == "bba" && "aa".replace("a", "b", 0) == "aa"',
    '"ab".replace("", "-") == "-a-b-" && "a".replace("a", "b", -1) == "b"',
    '["a", "b"].join("-") == "a-b" && ["a", "b"].join() == "ab" && [].join(",") == ""',
    '"%s=%d".format(["n", 3]) == "n=3"',
    '"hello".substring(1, 3) == "el" && "hello".indexOf("l") == 2 && "hello".lastIndexOf("l") == 3',
    '"hello".charAt(1) == "e" && strings.quote("a") == "\\"a\\""',
    'size("a😀") == 2 && "a😀".size() == 2',
  ])('has the strings extension: %s', (expr) => {
    expect(holds(expr)).toBe(true)
  })

  test('GC-20 binds every variable on every event, whatever is missing', () => {
    for (const payload of [undefined, null, {}, 'text', { tool_name: 1, tool_input: [1], prompt: {} }]) {
      const empty = eventInput(payload)
      expect(holds('event == "notification" && tool_name == "" && prompt == "" && error == ""', empty)).toBe(
        true,
      )
      expect(holds('tool_input == {} && tool_response == null && outcome == "unknown"', empty)).toBe(true)
      expect(holds('agent + agent_id + session + run + turn + tenant + host + cwd == ""', empty)).toBe(true)
      expect(holds('depth == 0 && size(payload) >= 0', empty)).toBe(true)
    }
  })

  test('GC-23 depth and the identity come from the envelope, the rest from the payload', () => {
    expect(holds('[agent, agent_id, session, run, turn, tenant, host, cwd].join() == "scouta1srtxh/w"')).toBe(
      true,
    )
    const after = eventInput({ prompt: 'p', error: 'e', outcome: 'failed', tool_response: { ok: true } })
    expect(holds('prompt + error + outcome == "pefailed" && tool_response.ok', after)).toBe(true)
    expect(holds('payload.prompt == prompt', after)).toBe(true)
    expect(holds('depth == 0', eventInput({}, { depth: Number.NaN }))).toBe(true)
  })
})

describe('4.3 #41 a condition that fails says so instead of guessing', () => {
  test.each([
    ['tool_input.missing == 1', 'a key is missing', 'if_expr:1:11'],
    ['tool_input.n.deep == 1', 'a key is missing', 'if_expr:1:13'],
    ['tool_input.n.startsWith("a")', 'found no matching overload', 'if_expr:1:13'],
    ['tool_input.n', 'neither true nor false', 'if_expr:1:11'],
    ['true &&\n tool_input.command', 'type mismatch', 'if_expr:1:1'],
    ['[1][3] == 1', 'out of bounds', 'if_expr:1:1'],
    ['1 / (depth - 1) == 1', 'division by zero', 'if_expr'],
    ['9223372036854775807 + depth > 0', 'too large', 'if_expr'],
    ['tool_input.list.all(x, x.y)', 'a key is missing', 'if_expr:1:25'],
    ['["a", tool_input.n].join() == ""', 'join needs a list of strings', 'if_expr:1:20'],
    ['int(tool_input.command) == 1', 'a function cannot handle its input', 'if_expr:1:1'],
    ['"%d".format(["x"]) == ""', 'format does not fit', 'if_expr:1:5'],
  ])('%j', (expr, why, at) => {
    const error = evalError(expr)
    expect(error.message).toContain(why)
    expect(error).toMatchObject({ code: 'match.cel_eval', at })
  })

  test('no piece of the payload stands in the message', () => {
    const secret = toolCallInput('Bash', { command: 'sk-secret', key: 'sk-secret' })
    for (const expr of [
      'int(tool_input.command) == 1',
      'bool(tool_input.command)',
      'timestamp(tool_input.command) > timestamp("2020-01-01T00:00:00Z")',
      'tool_input[tool_input.key] == 1',
      '{tool_input.key: 1, tool_input.command: 2} == {}',
    ])
      expect(JSON.stringify(evalError(expr, secret))).not.toContain('sk-secret')
  })

  test('4.3 #45 nothing of JavaScript shows through', () => {
    const raw = JSON.parse('{"__proto__": {"own": 1}, "a": {}}')
    for (const path of [
      'constructor',
      '__proto__',
      'toString',
      'a.__proto__',
      'a.constructor.name',
      'a.hasOwnProperty',
    ]) {
      expect(evalError(`payload.${path} == 1`, eventInput(raw))).toMatchObject({ code: 'match.cel_eval' })
      expect(
        holds(`has(payload.${path.split('.')[0] === 'a' ? 'a.__proto__' : path})`, eventInput(raw)),
      ).toBe(false)
    }
    expect(holds('payload.all(key, key == "a")', eventInput(raw))).toBe(true)
  })

  test('a payload that poses as a protobuf message is only a map', () => {
    const posing = eventInput({ x: { $typeName: 'google.protobuf.Any', typeUrl: 'a', value: 'b' } })
    expect(holds('payload.x.typeUrl == "a" && size(payload.x) == 3', posing)).toBe(true)
  })
})

test('hooks that share a condition share its program', () => {
  const first = compileCondition('depth == 1000')
  expect(compileCondition('depth == 1000')).toBe(first)
  for (let n = 0; n < 600; n++) compileCondition(`depth == ${n}`)
  expect(compileCondition('depth == 1000')).not.toBe(first)
})
