import { serverError } from '../../engine/core/errors/server-errors.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { nearest } from '../../engine/core/values/nearest.ts'
import type { DispatchRequest } from '../../pipeline/call.ts'

type Test = (value: unknown) => boolean

const isText: Test = (value) => typeof value === 'string'
const isNumber: Test = (value) => typeof value === 'number'
const isAnything: Test = () => true

interface Field {
  readonly test: Test
  readonly is: string
}

const text: Field = { test: isText, is: 'text' }
const number: Field = { test: isNumber, is: 'a number' }
const anything: Field = { test: isAnything, is: 'anything' }

const requestFields: Readonly<Record<string, Field>> = {
  event: text,
  payload: anything,
  envelope: { test: isRecord, is: 'an object' },
  trace: { test: (value) => typeof value === 'boolean', is: 'true or false' },
  within_ms: number,
  approval_id: {
    test: (value) => typeof value === 'string' && isApprovalId(value),
    is: 'the id of an approval',
  },
  idempotency_key: {
    test: (value) => typeof value === 'string' && value.length > 0 && value.length <= 256,
    is: 'text of 1 to 256 characters',
  },
}

export function isApprovalId(text: string): boolean {
  return /^apr_[0-9a-f]{16}$/.test(text)
}

const envelopeFields: Readonly<Record<string, Field>> = {
  id: text,
  time: number,
  tenant: text,
  agent: text,
  agentId: text,
  parentAgent: text,
  session: text,
  run: text,
  turn: text,
  depth: number,
  toolCall: text,
  lane: text,
  cwd: text,
  host: text,
  hostVersion: text,
  outcome: text,
  traceparent: text,
  raw: anything,
}

/** A hand-written check, because it runs for every event; the engine checks the payload itself. */
export function readDispatchRequest(value: unknown): DispatchRequest {
  if (!isRequest(value)) throw serverError('gateway.request', 'event is required')
  return value
}

function isRequest(value: unknown): value is DispatchRequest {
  if (!isRecord(value)) throw serverError('gateway.request', 'an event must be an object')
  checkFields(value, requestFields, '')
  if (isRecord(value.envelope)) checkFields(value.envelope, envelopeFields, 'envelope.')
  return value.event !== undefined
}

function checkFields(
  value: Record<string, unknown>,
  fields: Readonly<Record<string, Field>>,
  within: string,
): void {
  for (const key in value) {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined
    if (field === undefined) throw unknownField(key, fields, within)
    if (!field.test(value[key])) {
      const at = within + key
      throw serverError('gateway.request', `${at} must be ${field.is}`, { at })
    }
  }
}

function unknownField(key: string, fields: Readonly<Record<string, Field>>, within: string): Error {
  const near = nearest(key, Object.keys(fields))
  const at = within + key.slice(0, 80)
  const hint = near === undefined ? `There are ${Object.keys(fields).join(', ')}.` : `Did you mean ${near}?`
  return serverError('gateway.request', `there is no field ${at}`, { at, hint })
}
