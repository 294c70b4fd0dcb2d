import { describe, expect, test } from 'vitest'
import { createHooks } from '../../src/engine/dispatch/hooks.ts'
import { analyzeShell } from '../../src/shell/index.ts'
import { readCaseGroups, readHoldout, readLineCases, readRounds } from './read-cases.ts'

const files: Readonly<Record<string, string>> = {
  '/app/script.sh': '#!/bin/sh\nrm -rf x\n',
  '/app/huge.sh': '#'.repeat(100_000),
  '/app/.venv/bin/activate': 'export VIRTUAL_ENV=/app/.venv\n',
  '/app/venv/bin/activate': 'export VIRTUAL_ENV=/app/venv\nhash -r 2>/dev/null\n',
  '/home/u/.nvm/nvm.sh': 'nvm() { echo nvm; }\n',
}
const context = { cwd: '/app', home: '/home/u', readFile: (path: string) => files[path] }
const analyze = (line: string) => analyzeShell(line, context)
const paths = (effects: readonly { readonly path: string }[]) => effects.map(({ path }) => path)

describe.each(['deletions', 'hidden', 'harmless', 'ordinary'] as const)('%s', (name) => {
  for (const { title, expect: wanted, lines } of readCaseGroups(name)) {
    test.each(lines)(`${title}: %j`, (line) => {
      const effects = analyze(line)
      const { program, flags, not, first, deletes, opaque } = wanted
      if (program !== undefined)
        expect(effects.commands).toContainEqual(
          expect.objectContaining({ program, flags: expect.arrayContaining([...(flags ?? [])]) }),
        )
      if (not !== undefined) expect(effects.commands.map((command) => command.program)).not.toContain(not)
      if (first) expect(effects.commands.length).toBeGreaterThan(0)
      if (deletes?.length === 0) expect(effects.deletes).toEqual([])
      else if (deletes) expect(paths(effects.deletes)).toEqual(expect.arrayContaining([...deletes]))
      const reasons = effects.opaque.map(({ reason }) => reason)
      if (opaque?.length === 0) expect(effects.opaque).toEqual([])
      else if (opaque) expect(reasons).toEqual(expect.arrayContaining([...opaque]))
    })
  }
})

describe.each(['files', 'network', 'commands'] as const)('%s', (name) => {
  test.each(readLineCases(name))('$line', ({ line, writes, reads, deletes, hosts, command }) => {
    const effects = analyze(line)
    for (const [kind, wanted] of Object.entries({ writes, reads, deletes })) {
      const found = paths(effects[kind as 'writes' | 'reads' | 'deletes'])
      if (wanted?.length === 0) expect(found).toEqual([])
      else if (wanted) expect(found).toEqual(expect.arrayContaining([...wanted]))
    }
    if (hosts) expect(effects.hosts.map(({ host }) => host)).toEqual(hosts)
    if (command) expect(effects.commands).toContainEqual(expect.objectContaining(command))
  })
})

const hooks = createHooks({ shell: (line, given) => analyzeShell(line, { ...context, ...given }) })
hooks.on('pre_tool_use', { id: 'deletion', matcher: 'Bash(rm -rf*)' }, () => undefined)
hooks.on('pre_tool_use', { id: 'change', matcher: 'Write(./.env)' }, () => undefined)
hooks.on('pre_tool_use', { id: 'read', matcher: 'Read(./.env)' }, () => undefined)

/** What a hook sees of a line: what it looks for, a part that may hide it, or nothing. */
async function seenBy(id: string, command: string): Promise<'matched' | 'hidden' | 'none'> {
  const call = { tool_name: 'Bash', tool_input: { command } }
  const { trace } = await hooks.dispatch('pre_tool_use', call, { cwd: '/app' }, { trace: true })
  const [execution] = trace?.hooks.find(({ hook }) => hook === id)?.executions ?? []
  if (execution?.decision === 'allow') return 'matched'
  return execution?.code === 'match.opaque' ? 'hidden' : 'none'
}

/** What hooks decide about the lines that the analyser had not seen when they were written. */
describe.each(readHoldout())('hold-out, $title', ({ expect: expected, lines }) => {
  test.each(lines)('%j', async (command) => {
    if (expected === 'ordinary') {
      // One-liners of another language are inline code, whatever they do.
      expect(await seenBy('deletion', command)).toBe(command.startsWith('perl -ne') ? 'hidden' : 'none')
      expect(await seenBy('change', command)).not.toBe('matched')
    } else if (expected === 'hidden')
      expect(['matched', 'hidden']).toContain(await seenBy('deletion', command))
    else expect(['matched', 'hidden']).toContain(await seenBy(expected, command))
  })
})

describe.each(readRounds())('$title', ({ expect: expected, gap, lines }) => {
  test.each(lines)('%j', async (command) => {
    if (expected === 'ordinary') {
      expect(await seenBy('deletion', command)).toBe('none')
      expect(await seenBy('change', command)).not.toBe('matched')
      expect(analyze(command).opaque).toEqual([])
    } else if (expected === 'marked') expect(await seenBy('deletion', command)).not.toBe('matched')
    else {
      const seen = await seenBy(expected === 'hidden' ? 'deletion' : expected, command)
      // A gap that is closed moves to the other lines.
      if (gap) expect(seen).toBe('none')
      else expect(['matched', 'hidden']).toContain(seen)
    }
  })
})
