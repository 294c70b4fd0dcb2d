import { type Caller, reaches } from '../../access/caller.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { schemaError } from '../../engine/core/schema/read-checked.ts'
import { readSchema } from '../../engine/core/schema/schema.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { nearest } from '../../engine/core/values/nearest.ts'
import type { Method, MethodCall, MethodRow, PartName } from '../../methods/method.ts'
import type { MethodParts } from '../../methods/method-parts.ts'

/** The methods by name. */
export type MethodTable = ReadonlyMap<string, Method>

export function methodTable(rows: readonly Method[]): MethodTable {
  return new Map(rows.map((row) => [row.name, row]))
}

export function requireMethod(table: MethodTable, name: string): Method {
  const row = table.get(name)
  if (row !== undefined) return row
  const near = nearest(name, table.keys())
  const hint =
    near === undefined ? 'The hello frame and /v1/openapi.json list every method.' : `Did you mean ${near}?`
  throw serverError('gateway.request', `there is no method ${name.slice(0, 80)}`, { hint })
}

export interface MethodContext {
  readonly caller: Caller
  readonly parts: MethodParts
  readonly signal?: AbortSignal
  readonly address?: string | undefined
}

/** Runs one method for a caller. For a subscription this reads one page. */
export async function callMethod(row: Method, given: unknown, context: MethodContext): Promise<unknown> {
  return row.kind === 'call'
    ? row.run(prepareCall(row, given, context))
    : row.run(prepareCall(row, given, context))
}

/** Checks the role, then the parameters: a caller without the role learns nothing about them. */
export function prepareCall<Params, Part extends PartName>(
  row: MethodRow<string, Params, unknown, Part>,
  given: unknown,
  { caller, parts, signal, address }: MethodContext,
): MethodCall<Params, Part> {
  if (!reaches(caller.role, row.role))
    throw serverError('auth.scope', `${row.name} needs the role ${row.role}, the token has ${caller.role}`)
  const call = { params: readParams(row, given), caller, parts: selectParts(parts, row.needs) }
  return { ...call, ...definedFields({ signal, address }) }
}

function selectParts<Part extends PartName>(
  parts: MethodParts,
  needs: readonly Part[],
): Pick<MethodParts, Part> {
  // Object.fromEntries loses the keys, which are exactly `needs`.
  return Object.fromEntries(needs.map((name) => [name, parts[name]])) as Pick<MethodParts, Part>
}

function readParams<Params>(
  { params }: Pick<MethodRow<string, Params, unknown, never>, 'params'>,
  given: unknown,
): Params {
  const { value, problems } = readSchema<Params>(params, given ?? {})
  const [first] = problems
  if (first === undefined) return value
  const { code, message, path, part, hint } = first
  // A schema with an error code of its own gives the more precise error.
  if (code !== 'config.field') throw schemaError(first)
  throw serverError('gateway.request', message.replace(/^the value/, 'params'), {
    at: path.join('.'),
    ...(part === 'key' && hint !== undefined ? { hint } : {}),
  })
}
