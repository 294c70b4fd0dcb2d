import { HookError } from '../core/error.ts'

/** For callers without a compiler: a matcher of the wrong type must not turn into one that matches everything. */
export function wrongType(at: string, expected: string): never {
  throw new HookError('config.field', `${at} must be ${expected}`, { at })
}

export function requireTexts(value: unknown, at: string): asserts value is readonly string[] {
  if (!Array.isArray(value)) wrongType(at, 'a list of strings')
  const wrong = value.findIndex((entry) => typeof entry !== 'string')
  if (wrong >= 0) wrongType(`${at}.${wrong}`, 'a string')
}
