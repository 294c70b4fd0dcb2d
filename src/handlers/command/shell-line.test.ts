import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { commandHook } from '../../../test/handlers/command-hook.fixture.ts'
import { shellLine } from './shell-line.ts'

const dir = mkdtempSync(join(tmpdir(), 'hookhelm-quote-'))
const trap = join(dir, 'executed')
afterAll(() => rmSync(dir, { recursive: true }))

const attacks = [
  `$(touch TRAP)`,
  `\`touch TRAP\``,
  `'; touch TRAP; '`,
  `"; touch TRAP; "`,
  `\\"; touch TRAP; \\"`,
  `\n touch TRAP\n`,
  `*; touch TRAP #`,
  `\${IFS}&& touch TRAP`,
  '$ARGUMENTS {file} {args}',
  'ünïcödé 🎉',
]

/** The path differs from run to run, and a title must not. */
const armed = (attack: string) => attack.replaceAll('TRAP', trap)

describe.each([
  ['bare', 'printf %s $ARGUMENTS >&2; exit 2'],
  ['in double quotes', 'printf %s "$ARGUMENTS" >&2; exit 2'],
  ['beside other text in double quotes', 'printf %s "$ARGUMENTS"\'\' >&2; exit 2'],
  ['in a substitution', 'printf %s "$(printf %s "$ARGUMENTS")" >&2; exit 2'],
])('OH-22 OH-23 $ARGUMENTS %s', (_, command) => {
  test.each(attacks)('is the event as JSON and never a command: %j', async (attack) => {
    const text = armed(attack)
    const { message = '' } = await commandHook({ command }).ask({ tool_input: { text } })
    expect(JSON.parse(message)).toMatchObject({ tool_input: { text } })
    expect(existsSync(trap)).toBe(false)
  })
})

test('OH-22 only that exact text is replaced, and what is escaped stays', () => {
  const other = `echo \${ARGUMENTS} {tool_name} \\$ARGUMENTS`
  const { line, variables } = shellLine(`${other} $ARGUMENTS`, ['$ARGUMENTS'])
  expect(line).toBe(`${other} "$\{HOOKHELM_ARGUMENTS}"`)
  expect(variables).toEqual({ HOOKHELM_ARGUMENTS: '$ARGUMENTS' })
})

test('OH-22 the JSON is plain ASCII', async () => {
  const { message } = await commandHook({ command: 'printf %s $ARGUMENTS >&2; exit 2' }).ask({
    tool_input: { a: 'é' },
  })
  expect(message).toContain('\\u00e9')
})

test.each([
  "echo '$ARGUMENTS'",
  'sh -c "echo $ARGUMENTS"',
  'bash -lc "echo $ARGUMENTS"',
  '/bin/sh -e -c $ARGUMENTS',
  'eval echo $ARGUMENTS',
  'true; eval "$ARGUMENTS"',
  'python3 -c "print($ARGUMENTS)"',
  'node -e "console.log($ARGUMENTS)"',
])('OH-23 a line that would run the payload as code is refused: %s', (command) => {
  expect(() => commandHook({ command })).toThrow(expect.objectContaining({ code: 'config.field' }))
})

test.each(['sh -c \'cat "$1"\' _ $ARGUMENTS', 'grep -c "$ARGUMENTS" x', 'jq -e . <<< $ARGUMENTS'])(
  'and one that only passes it on is not: %s',
  (command) => {
    expect(() => commandHook({ command })).not.toThrow()
  },
)

test('without a shell it is put into the argument itself', async () => {
  const exec = ['sh', '-c', 'printf %s "$1" >&2; exit 2', '_', '$ARGUMENTS']
  const text = armed(attacks.join(''))
  const { message = '' } = await commandHook({ exec }).ask({ tool_input: { text } })
  expect(JSON.parse(message)).toMatchObject({ tool_input: { text } })
  expect(existsSync(trap)).toBe(false)
})

describe('the placeholders of the OpenHarness seed', () => {
  const seed = (command: string) => commandHook({ command, format: 'openharness-seed', can_block: true })

  test.each(attacks)('OH-23 are values and never commands: %j', async (attack) => {
    const text = armed(attack)
    const { ask } = seed('printf "%s\\n" {file} {tool_name} "{args}" {result}; exit 1')
    const payload = { tool_name: text, tool_input: { file_path: text }, tool_response: text }
    const { message = '', reason } = await ask(payload)
    const flat = text.replace(/\s+/g, ' ').trim()
    expect((message || reason || '').replace(/\s+/g, ' ')).toContain(
      `${flat} ${flat} ${JSON.stringify({ file_path: text })}`.slice(0, 20),
    )
    expect(existsSync(trap)).toBe(false)
  })

  test('a file that looks like an option is none', async () => {
    expect(await seed('echo {file}; exit 1').ask({ tool_input: { file_path: '--help' } })).toMatchObject({
      reason: './--help',
    })
  })

  test('stay text in every other format', async () => {
    const { ask } = commandHook({ command: 'echo {file} {tool_name} >&2; exit 2' })
    expect(await ask()).toMatchObject({ reason: '{file} {tool_name}' })
  })
})
