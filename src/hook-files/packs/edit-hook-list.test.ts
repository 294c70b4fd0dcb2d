import { describe, expect, test } from 'vitest'
import { editHookList, readHookEntries } from './edit-hook-list.ts'

const path = 'hooks.yaml'
const nothing = { add: [], replace: [], remove: [] }
const entry = (id: string, more = '') => ({
  id,
  text: `  # About ${id}.\n  - id: ${id}\n    event: stop\n    handler_type: script\n    config:\n      source: |\n        // - id: not-a-hook\n        function handle() {${more}}`,
})

const file = `# My hooks.
version: 1   # the format
hooks:
  - id: mine      # do not touch
    event: "stop"
    handler_type: script
    config: { source: 'function handle() {}' }

  # The second one.
  - event: session_start
    handler_type: script
    config:
      source: |
        - id: text-that-looks-like-a-hook
        # not a comment

# The end.
$schema: ./x.json
`.replace(
  '        - id: text-that-looks-like-a-hook\n        # not a comment\n',
  `        // - id: text-that-looks-like-a-hook
        function handle() {}
`,
)

describe('adding a hook', () => {
  test('keeps every other byte of the file, and removing it restores the file', () => {
    const added = editHookList(file, path, { ...nothing, add: [entry('p/a'), entry('p/b')] })
    expect(added).toContain('  # About p/a.\n  - id: p/a\n')
    expect(added.indexOf('p/b')).toBeLessThan(added.indexOf('# The end.'))
    for (const line of file.split('\n')) expect(added.split('\n')).toContain(line)
    expect(editHookList(added, path, { ...nothing, remove: ['p/a', 'p/b'] })).toBe(file)
  })

  test.each([
    ['an indentation of its own', file.replace(/^ {2}(?=\S| {2})/gm, '')],
    ['line ends of Windows', file.replaceAll('\n', '\r\n')],
    ['no line end after its last hook', file.slice(0, file.indexOf('\n\n# The end.'))],
    ['an empty list', 'version: 1\nhooks: []\n'],
    ['an empty list with a comment', 'hooks: [] # none yet\nversion: 1\n'],
  ])('works in a file with %s', (_, text) => {
    const added = editHookList(text, path, { ...nothing, add: [entry('p/a')] })
    expect(readHookEntries(added, path).map(({ id }) => id)).toContain('p/a')
    if (text.includes('\r\n')) expect(added.replaceAll('\r\n', '')).not.toContain('\n')
    const removed = editHookList(added, path, { ...nothing, remove: ['p/a'] })
    expect(removed).toBe(text.replace(' # none yet', ''))
  })

  test('refuses a list on one line, and a file with a problem', () => {
    const flow = `hooks: [{ id: a, event: stop, handler_type: script, config: { source: 'function handle() {}' } }]\n`
    const add = { ...nothing, add: [entry('p/a')] }
    expect(() => editHookList(flow, path, add)).toThrow(expect.objectContaining({ code: 'config.hook_list' }))
    expect(() =>
      editHookList(
        'hooks:\n  - { event: sotp, handler_type: answer, config: { decision: block, reason: r } }\n',
        path,
        add,
      ),
    ).toThrow(expect.objectContaining({ code: 'input.unknown_event' }))
  })
})

test('a replaced hook stays in its place, with the comment of the user', () => {
  const added = editHookList(file, path, { ...nothing, add: [entry('p/a'), entry('p/b')] })
  const commented = added.replace('# About p/a.', '# My own words.')
  const replaced = editHookList(commented, path, { ...nothing, replace: [entry('p/a', ' return 1 ')] })
  expect(replaced).toBe(
    commented.replace(
      'function handle() {}\n\n  # About p/b',
      'function handle() { return 1 }\n\n  # About p/b',
    ),
  )
})
