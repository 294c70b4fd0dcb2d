import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { errorText, HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { problemsError, syntaxProblem } from '../../hook-files/file-problem.ts'
import { parseSource } from '../../hook-files/read/read-hook-file.ts'
import type { Flags } from '../command.ts'

/** Reads an object, as YAML or JSON, from `--file` (`-` is stdin) or from `--data`. */
export function readData({ file, data, cwd = '.' }: Flags<'file' | 'data' | 'cwd'>): Record<string, unknown> {
  if (file !== undefined && data !== undefined)
    throw new HookError('input.schema', '--file and --data cannot stand together')
  if (data !== undefined) return parsed(data, '--data')
  if (file === undefined) return {}
  return file === '-' ? parsed(fromStdin(), 'stdin') : parsed(textOf(resolve(cwd, file)), file)
}

export function fromStdin(): string {
  return readFileSync(0, 'utf8')
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw handlerError('config.unreadable', `${path} cannot be read: ${errorText(cause)}`, { cause })
  }
}

function parsed(text: string, name: string): Record<string, unknown> {
  const source = parseSource(text, name)
  if (source instanceof HookError) throw problemsError([syntaxProblem(text, name, source)])
  if (isRecord(source.value)) return source.value
  throw new HookError('input.schema', `${name} must hold an object`)
}
