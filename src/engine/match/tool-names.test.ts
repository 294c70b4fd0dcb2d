import { expect, test } from 'vitest'
import { analyzeShell } from '../../shell/analyze-shell.ts'
import { createHooks } from '../dispatch/hooks.ts'
import { joinToolNames, splitToolNames } from './tool-names.ts'

test('one name stands for itself, and two for both', () => {
  expect(splitToolNames(joinToolNames('Bash', 'Bash'))).toEqual(['Bash'])
  expect(splitToolNames(joinToolNames('Bash', ''))).toEqual(['Bash'])
  expect(splitToolNames(joinToolNames('Bash', 'run_shell_command'))).toEqual(['Bash', 'run_shell_command'])
  expect(splitToolNames(joinToolNames('Edit', ['apply_patch', 'Write', 7, 'Edit']))).toEqual([
    'Edit',
    'apply_patch',
    'Write',
  ])
})

const call = {
  tool_name: 'Bash',
  native_tool_name: 'run_shell_command',
  tool_input: { command: 'git push --force' },
}

test.each([
  [{ matcher: '^Bash$' }, 'block'],
  [{ matcher: '^run_shell_command$' }, 'block'],
  [{ matcher: 'Bash(git push*)' }, 'block'],
  [{ matcher: 'run_shell_command(git push*)' }, 'block'],
  [{ match: { names: ['run_shell_command'] } }, 'block'],
  [{ match: { names: ['run_shell_command(git push*)', 'Edit'] } }, 'block'],
  [{ match: { glob: 'run_*' } }, 'block'],
  [{ matcher: '^(run_shell_command|Edit)$', match: { glob: 'run_*' } }, 'block'],
  // Conditions hold together for one of the names, not each for another.
  [{ matcher: '^Bash$', match: { glob: 'run_*' } }, 'allow'],
  [{ matcher: 'Bash(git pull*)' }, 'allow'],
  [{ matcher: '^Edit$' }, 'allow'],
] as const)('a hook written for either name is asked: %j', async (options, kind) => {
  const hooks = createHooks({ shell: analyzeShell })
  hooks.on('pre_tool_use', options, () => ({ kind: 'block', reason: 'no' }))
  expect(await hooks.dispatch('pre_tool_use', call)).toMatchObject({ kind })
  const { trace } = await hooks.dispatch('pre_tool_use', call, {}, { trace: true })
  expect(trace?.hooks[0]?.matched).toBe(kind === 'block')
})
