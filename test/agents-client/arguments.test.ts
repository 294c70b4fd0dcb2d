import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { clients, run } from './clients.fixture.ts'

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))

describe.each(clients)('$name: arguments', (client) => {
  test.each([
    ['nothing', [], 'an agent and an event are needed'],
    ['no event', ['codex', '--socket', '/x'], 'an agent and an event are needed'],
    ['no socket', ['codex', 'Stop'], '--socket is needed'],
    ['a word too many', ['codex', 'Stop', 'x', '--socket', '/x'], 'one word too many: x'],
    ['an unknown option', ['codex', 'Stop', '--socket', '/x', '--open'], 'unknown option --open'],
    ['an option without its value', ['codex', 'Stop', '--socket'], 'no value for --socket'],
    ['an empty value', ['codex', 'Stop', '--socket', ''], 'no value for --socket'],
    [
      'a budget of 0',
      ['codex', 'Stop', '--socket', '/x', '--within', '0'],
      '--within takes milliseconds, not 0',
    ],
    ['a budget in words', ['codex', 'Stop', '--within', '5s'], '--within takes milliseconds, not 5s'],
    [
      'a budget of days',
      ['codex', 'Stop', '--within', '3600001'],
      '--within takes milliseconds, not 3600001',
    ],
    ['a leading zero', ['codex', 'Stop', '--within', '0100'], '--within takes milliseconds, not 0100'],
    ['an unknown way to refuse', ['codex', 'Stop', '--refuse', 'no'], '--refuse does not know no'],
    ['a name that would break the line', ['co"dex', 'Stop'], 'no name of an agent or event: co"dex'],
    ['a name with control characters', ['codex', 'St\nop\u001b'], 'no name of an agent or event: St op '],
    ['a name that is no end', ['codex', 'S'.repeat(65)], `no name of an agent or event: ${'S'.repeat(65)}`],
    [
      'an observation that refuses',
      ['codex', 'Stop', '--socket', '/x', '--observe', '--fail-open'],
      '--observe refuses nothing: it goes with neither --refuse nor --fail-open',
    ],
  ])('%s is exit 2 with the usage', async (_, given, problem) => {
    const { code, stdout, stderr } = await run(client, given)
    expect([code, stdout]).toEqual([2, ''])
    expect(
      stderr.startsWith(`hookhelm-hook: ${problem}\nusage: hookhelm-hook <agent> <event> --socket PATH`),
    ).toBe(true)
  })

  test('--version prints it', async () => {
    expect(await run(client, ['--version'])).toEqual({
      code: 0,
      signal: null,
      stdout: `hookhelm-hook ${version}\n`,
      stderr: '',
    })
  })
})
