import { readFileSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { HookError } from '../engine/core/error.ts'
import { analyzeShell } from '../shell/analyze-shell.ts'
import { formatShellEffects } from '../shell/format-effects.ts'
import type { ShellDialect } from '../shell/shell-effects.ts'
import { command, exitCodes } from './command.ts'
import { printOutput, replaceControlCharacters } from './output.ts'

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
    const effects = analyzeShell(line, {
      cwd: resolve(cwd ?? '.'),
      home: homedir(),
      shell,
      readFile: readIfFile,
      resolveLink: resolveIfThere,
    })
    printOutput(json ? effects : formatLines(formatShellEffects(effects)))
    return exitCodes.ok
  },
})

function formatLines(text: string): string {
  return text.split('\n').map(replaceControlCharacters).join('\n')
}

function readIfFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function resolveIfThere(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}
