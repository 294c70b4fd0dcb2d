import { expect, test } from 'vitest'
import { agentProfiles } from '../agents/table.ts'
import { explainUnreadable } from './explain-unreadable.ts'

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
  const host = agentProfiles.find(({ adapter }) => adapter.name === agent)?.host
  const reads = host?.transport === 'command' ? host.syntax : {}
  const read = Object.entries(texts).filter(([, text]) => explainUnreadable(text, '/f', reads) === undefined)
  expect(read.map(([name]) => name).toSorted()).toEqual(readable.toSorted())
})

test.each([
  ['{\n  // x\n}', '/f:2:3 has a comment'],
  ['{ "a": 1, }', '/f:1:11 has a trailing comma'],
  ['{ "a": [1, ] }', '/f:1:12 has a trailing comma'],
  ['\uFEFF{}', '/f begins with a byte order mark'],
  ['{ a: 1 }', '/f:1:3 has invalid JSON'],
])('it says what and where: %j', (text, why) => {
  expect(explainUnreadable(text, '/f', {})).toBe(why)
})

test('an empty file is one that the agent has not written yet', () => {
  expect(explainUnreadable('', '/f', {})).toBeUndefined()
})
