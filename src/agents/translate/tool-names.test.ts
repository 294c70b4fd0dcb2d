import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { agentAdapters } from '../table.ts'
import { patchedFiles, patchText, readPatch } from './apply-patch.ts'
import { outputText } from './process-reply.ts'
import { mcpToolName, toCanonical, toNative } from './tool-names.ts'

const tools = {
  view: { name: 'Read', keys: { path: 'file_path' } },
  open: { name: 'Read', keys: { file_path: 'file_path', path: 'file_path' } },
}

describe('names of tools and arguments', () => {
  test('what is not listed stays as it is', () => {
    expect(toCanonical(tools, 'other', { path: 'a' })).toEqual({
      tool_name: 'other',
      tool_input: { path: 'a' },
    })
    expect(toCanonical(tools, 'constructor', {})).toEqual({ tool_name: 'constructor', tool_input: {} })
    expect(toNative(tools, 'toString', { a: 1 })).toEqual({ a: 1 })
  })

  test('an argument that the tool does not read cannot hide the one that it reads', () => {
    expect(toCanonical(tools, 'view', { path: '/etc/shadow', file_path: 'README' }).tool_input).toEqual({
      file_path: '/etc/shadow',
      file_path_unused: 'README',
    })
  })

  test('where several spellings are read, two at once are refused', () => {
    expect(() => toCanonical(tools, 'open', { path: 'a', file_path: 'b' })).toThrow(
      expect.objectContaining({ code: 'input.schema' }),
    )
  })

  test('__proto__ is an argument like any other', () => {
    const input = JSON.parse('{"path":"a","__proto__":{"x":1}}')
    expect(JSON.stringify(toCanonical(tools, 'view', input).tool_input)).toBe(
      '{"file_path":"a","__proto__":{"x":1}}',
    )
  })

  const listed = agentAdapters.flatMap((agent) =>
    Object.entries(agent.tools).map(([native, { keys }]) => ({
      agent,
      native,
      theirs: Object.keys(keys ?? {}),
    })),
  )
  test.each(listed)('$agent.title $native: arguments come back as they went', ({ agent, native, theirs }) => {
    const own = fc.oneof(fc.constantFrom('command', 'x', 'y', ...theirs), fc.string())
    fc.assert(
      fc.property(fc.dictionary(own, fc.jsonValue(), { maxKeys: 3 }), (input) => {
        const ours = Object.values(agent.tools[native]?.keys ?? {})
        // Arguments that the tool does not read and that are called like one of ours are set aside.
        fc.pre(!Object.keys(input).some((key) => ours.includes(key) && !theirs.includes(key)))
        fc.pre(theirs.filter((key) => Object.hasOwn(input, key)).length <= 1)
        const { tool_input } = toCanonical(agent.tools, native, input)
        expect(toNative(agent.tools, native, tool_input, input)).toEqual(input)
      }),
    )
  })

  test('tools of servers have the name that hooks are written with', () => {
    expect(mcpToolName('github', 'create_issue')).toBe('mcp__github__create_issue')
    expect(mcpToolName('my server.v2', 'a/b')).toBe('mcp__my_server_v2__a_b')
  })
})

describe('patches', () => {
  const patch = [
    '*** Begin Patch',
    '*** Add File: a.txt',
    '+*** Delete File: not-this.txt',
    '  *** Update File: b c.txt  ',
    '*** Move to: d.txt',
    '@@',
    '-x',
    '*** Delete File: a.txt',
    '*** End Patch',
  ].join('\r\n')

  test('every file that is named counts, once', () => {
    expect(patchedFiles(patch)).toEqual({ paths: ['a.txt', 'b c.txt', 'd.txt'], onlyAdds: false })
  })

  test.each([
    ['*** Add File: a', 'Write'],
    ['*** Add File: a\n*** Add File: b', 'Write'],
    ['*** Add File: a\n*** Update File: b', 'Edit'],
    ['*** Delete File: a', 'Edit'],
    ['nonsense', 'Edit'],
  ])('%j is a %s', (text, tool) => {
    expect(readPatch(text).tool_name).toBe(tool)
  })

  test('millions of blank lines are read in no time', () => {
    expect(patchedFiles(`${'\n'.repeat(2_000_000)}${' '.repeat(2_000_000)}x`).paths).toEqual([])
    expect(patchedFiles(`*** Add File: a${' '.repeat(2_000_000)}b`).paths).toHaveLength(1)
  })

  test('without a file there is no path to change', () => {
    expect(readPatch('nonsense').tool_input).toEqual({ command: 'nonsense' })
    expect(patchText('nonsense', { command: 'other', file_path: 'x' })).toBeUndefined()
  })
})

describe('an output as one text', () => {
  test.each([
    ['text', 'text'],
    [{ llmContent: 'a', returnDisplay: 'b' }, 'a'],
    [{ llmContent: [{ text: 'a' }, 'b'] }, 'a\nb'],
    [{ content: [{ type: 'text', text: 'a' }] }, 'a'],
    [{ stdout: 'a', stderr: 'b' }, 'a'],
    [{ rows: 2 }, '{"rows":2}'],
    [{ content: [{ type: 'image', data: 'x' }] }, '{"content":[{"type":"image","data":"x"}]}'],
    [[], '[]'],
    [7, '7'],
    [null, 'null'],
    [undefined, 'a hook removed this output'],
    ['', 'a hook removed this output'],
    [' \u0085\n', 'a hook removed this output'],
    [{ stdout: '' }, 'a hook removed this output'],
  ])('%j is %j', (output, text) => {
    expect(outputText(output)).toBe(text)
  })
})
