import { expect, test } from 'vitest'
import { hosts } from '../../src/connect/hosts/table.ts'
import { unreadBecause } from '../../src/connect/text/readable.ts'

/** As the agents were seen to do: what they cannot read they ignore as a whole, with every hook in it. */
const seen = {
  'claude-code': ['plain', 'mark', 'unknown key'],
  codex: ['plain'],
  'gemini-cli': ['plain', 'line comment', 'comment', 'unknown key'],
  'copilot-cli': ['plain', 'unknown key'],
  cursor: ['plain', 'unknown key'],
}

const texts = {
  plain: '{ "hooks": {} }\n',
  'line comment': '{ // x\n "hooks": {} }\n',
  comment: '{ /* x */ "hooks": {} }\n',
  'trailing comma': '{ "hooks": {}, }\n',
  mark: '\uFEFF{ "hooks": {} }\n',
  'unknown key': '{ "zzz": 1, "hooks": {} }\n',
}

test.each(Object.entries(seen))('%s reads what it was seen to read, and nothing else', (agent, readable) => {
  const host = hosts.find((each) => each.agent === agent)
  const reads = host?.transport === 'command' ? host.reads : {}
  const read = Object.entries(texts).filter(([, text]) => unreadBecause(text, '/f', reads) === undefined)
  expect(read.map(([name]) => name).toSorted()).toEqual(readable.toSorted())
})

test.each([
  ['{\n  // x\n}', '/f:2:3 has a comment'],
  ['{ "a": 1, }', '/f:1:11 has a comma with nothing behind it'],
  ['{ "a": [1, ] }', '/f:1:12 has a comma with nothing behind it'],
  ['\uFEFF{}', '/f begins with a byte order mark'],
  ['{ a: 1 }', '/f:1:3 has something that is no JSON'],
])('it says what and where: %j', (text, why) => {
  expect(unreadBecause(text, '/f', {})).toBe(why)
})

test('an empty file is one that the agent has not written yet', () => {
  expect(unreadBecause('', '/f', {})).toBeUndefined()
})
