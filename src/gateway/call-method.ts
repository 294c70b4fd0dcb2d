import { checkWithZod } from '../config/read/value-problem.ts'
import { nearest } from '../engine/core/nearest.ts'
import { serverError } from '../engine/core/server-errors.ts'
import { type Caller, reaches } from './auth/caller.ts'
import type { Method } from './methods/method.ts'
import type { GatewayParts } from './parts.ts'

/** The methods by name. */
export type MethodTable = ReadonlyMap<string, Method>

export function methodTable(methods: readonly Method[]): MethodTable {
  return new Map(methods.map((row) => [row.name, row]))
}

export function findMethod(table: MethodTable, name: string): Method {
  const row = table.get(name)
  if (row !== undefined) return row
  const near = nearest(name, table.keys())
  const hint =
    near === undefined ? 'The hello frame and /v1/openapi.json list them.' : `Did you mean ${near}?`
  throw serverError('gateway.request', `there is no method ${name.slice(0, 80)}`, { hint })
}

/** Runs one method for a caller: role first, so that nobody learns about parameters they may not send. */
export async function callMethod(
  row: Method,
  given: unknown,
  { caller, parts }: { readonly caller: Caller; readonly parts: GatewayParts },
): Promise<unknown> {
  checkRole(row, caller)
  return row.run({ params: readParams(row, given), caller, parts })
}

export function checkRole({ name, role }: Method, caller: Caller): void {
  if (reaches(caller.role, role)) return
  throw serverError('auth.scope', `${name} needs the role ${role}, the token has ${caller.role}`)
}

export function readParams(row: Method, given: unknown): unknown {
  const read = row.params.safeParse(given ?? {})
  if (read.success) return read.data
  const [first] = checkWithZod(row.params, given ?? {})
  if (first === undefined)
    throw serverError('gateway.request', `the parameters of ${row.name} cannot be read`)
  const { error, path, part } = first
  // A schema that names a code of its own knows better.
  if (error.code !== 'config.field') throw error
  throw serverError('gateway.request', error.message.replace(/^the file/, 'params'), {
    at: path.join('.'),
    ...(part === 'key' ? { hint: error.hint } : {}),
  })
}
