import { HookError } from '../errors/error.ts'
import { readSchema, type Schema, type SchemaProblem } from './schema.ts'

/** Reads a value with a schema; throws a coded error for the first problem. `base` is the path of the value itself. */
export function readChecked<T>(shape: Schema<T>, given: unknown, base = ''): T {
  const { value, problems } = readSchema(shape, given)
  const [first] = problems
  if (first !== undefined) throw schemaError(first, base)
  return value
}

/** A problem of a value as a coded error. */
export function schemaError({ code, message, path, hint }: SchemaProblem, base = ''): HookError {
  const at = [base, ...path].filter((part) => part !== '').join('.')
  return new HookError(code, message, { at, ...(hint && { hint }) })
}

/** Reads a value with a schema; undefined if it does not fit. */
export function readIfValid<T>(shape: Schema<T>, given: unknown): T | undefined {
  const { value, problems } = readSchema(shape, given)
  return problems.length === 0 ? value : undefined
}
