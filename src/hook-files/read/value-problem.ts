import { HookError, type HookErrorOptions } from '../../engine/core/errors/error.ts'
import type { EngineCode } from '../../engine/core/errors/error-table.ts'
import type { SchemaPath, SchemaProblem } from '../../engine/core/schema/schema.ts'
import type { TextPosition } from './source.ts'

/** A problem of a value, before its position in a file is known. */
export interface ValueProblem {
  readonly path: SchemaPath
  /** Whether the key is wrong or its value. */
  readonly part: 'key' | 'value'
  /** Where in a text value, for example at a parenthesis that is never closed. */
  readonly inside?: TextPosition
  readonly error: HookError
}

/** A value that is wrong for another reason than its schema. */
export function valueProblem(
  path: SchemaPath,
  message: string,
  code: EngineCode = 'config.field',
  options: HookErrorOptions = {},
): ValueProblem {
  return { path, part: 'value', error: new HookError(code, message, options) }
}

/** The advice for a field that is missing or has the wrong type. */
const FIELD_HINT = '`docs/hook-files.md` lists the fields and what they hold.'

/** Converts a problem of one of our own schemas. */
export function fromSchemaProblem(
  { path, part, code, message, hint: own }: SchemaProblem,
  base: SchemaPath = [],
): ValueProblem {
  const advice = own ?? (code === 'config.field' ? FIELD_HINT : undefined)
  const text = base.length + path.length === 0 ? message.replace(/^the value /, 'the file ') : message
  const error = new HookError(code, text, advice === undefined ? {} : { hint: advice })
  return { path: [...base, ...path], part, error }
}
