import type { SQLOutputValue } from 'node:sqlite'
import { serverError } from '../../../engine/core/server-errors.ts'

export type Row = Record<string, SQLOutputValue>

export function text(value: SQLOutputValue | undefined): string {
  return typeof value === 'string' ? value : unexpected('text')
}

export function number(value: SQLOutputValue | undefined): number {
  return typeof value === 'number' ? value : unexpected('a number')
}

export function textOrNull(value: SQLOutputValue | undefined): string | null {
  return value === null ? null : text(value)
}

export function numberOrNull(value: SQLOutputValue | undefined): number | null {
  return value === null ? null : number(value)
}

function unexpected(what: string): never {
  throw serverError('store.corrupt', `a column does not hold ${what}`)
}
