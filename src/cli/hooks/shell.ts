import { resolve } from 'node:path'
import { localShell } from '../../app/local-shell.ts'
import { HookError } from '../../engine/core/errors/error.ts'
import type { ShellDialect } from '../../engine/core/shell-effects.ts'
import { formatShellEffects } from '../../shell/format-effects.ts'
import { command, exitCodes } from '../command.ts'
import { printOutput } from '../output.ts'

const dialects: readonly ShellDialect[] = ['bash', 'sh', 'zsh']

export const shellCommand = command({
  args: {
    line: { type: 'positional', required: true, description: 'the shell line, quoted as one argument' },
    shell: { type: 'string', description: 'the shell that would run it: bash, sh or zsh (default: bash)' },
  },
  run({ line, shell: name = 'bash', cwd, json }) {
    const shell = dialects.find((dialect) => dialect === name)
    if (!shell)
      throw new HookError('config.field', `there is no shell ${name}`, {
        hint: `Use ${dialects.join(', ')}.`,
      })
    const effects = localShell(line, { cwd: resolve(cwd ?? '.'), shell })
    printOutput(json ? effects : formatShellEffects(effects))
    return exitCodes.ok
  },
})
