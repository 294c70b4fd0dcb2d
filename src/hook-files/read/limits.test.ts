import { describe, expect, test } from 'vitest'
import { readHookText } from './read-hook-file.ts'

function problemOf(text: string, path: string) {
  const result = readHookText(text, path)
  return result.kind === 'bad' ? result.problems[0] : undefined
}

const laughs = [
  'a0: &a0 [x, x]',
  ...Array.from({ length: 40 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`),
].join('\n')

describe('files written to break the reader are refused, quickly', () => {
  test.each([
    ['a million brackets in JSON', '['.repeat(1_000_000), 'hooks.json'],
    ['a million brackets in YAML', '['.repeat(1_000_000), 'hooks.yaml'],
    ['half a million nested lists', '- '.repeat(500_000), 'hooks.yaml'],
    ['65 levels of JSON', `{"hooks":${'['.repeat(65)}${']'.repeat(65)}}`, 'hooks.json'],
    ['aliases that multiply', laughs, 'hooks.yaml'],
    ['a hundred and one aliases', `a: &a x\nb: [${'*a, '.repeat(101)}]`, 'hooks.yaml'],
    ['an alias that contains itself', 'hooks: &a [*a]', 'hooks.yaml'],
    ['a tag that would build something', 'hooks: !!js/function "x"', 'hooks.yaml'],
    ['a tag of its own', 'hooks: !thing []', 'hooks.yaml'],
    ['binary', 'hooks: !!binary aGk=', 'hooks.yaml'],
    ['two documents', 'hooks: []\n---\nhooks: []\n', 'hooks.yaml'],
    ['a key twice in YAML', 'hooks: []\nhooks: []\n', 'hooks.yaml'],
    ['a key twice in JSON', '{"hooks": [], "hooks": []}', 'hooks.json'],
    ['a prototype in YAML', 'hooks: []\n__proto__: { polluted: 1 }', 'hooks.yaml'],
    ['a prototype in JSON', '{"hooks": [], "__proto__": { "polluted": 1 }}', 'hooks.json'],
    ['half of a file', '{"hooks": [{"event": "st', 'hooks.json'],
    ['tabs as indentation', 'hooks:\n\t- event: stop', 'hooks.yaml'],
  ])('%s', (_, text, path) => {
    expect(problemOf(text, path)).toMatchObject({ code: 'config.syntax' })
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  test('merge keys and YAML 1.1 words mean nothing special', () => {
    expect(problemOf('hooks: []\n<<: { version: 1 }', 'hooks.yaml')).toMatchObject({
      code: 'config.field',
      pointer: '/<<',
    })
    const result = readHookText(
      'hooks: [{ event: stop, handler_type: script, config: { source: yes } }]',
      'hooks.yaml',
    )
    expect(result).toMatchObject({ kind: 'good', file: { hooks: [{ config: { source: 'yes' } }] } })
  })

  test('an alias may be used as it is meant', () => {
    const text =
      'hooks:\n  - event: stop\n    handler_type: script\n    config: &c { source: x }\n  - { event: stop, handler_type: script, config: *c }\n'
    expect(readHookText(text, 'hooks.yaml').kind).toBe('good')
  })
})
