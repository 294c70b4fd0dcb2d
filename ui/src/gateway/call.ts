import type { Methods } from '../../../src/client/index.ts'
import { parseExactJson } from './exact-json.ts'

interface Violation {
  readonly path: string
  readonly message: string
}

/** A refusal of the gateway, with the code of its error table. */
export class GatewayError extends Error {
  readonly code: string
  readonly hint: string | undefined
  readonly at: string | undefined
  readonly status: number
  /** What a JSON Schema of the user objects to. */
  readonly violations: readonly Violation[]

  constructor(status: number, fields: Readonly<Record<string, unknown>>) {
    super(typeof fields.message === 'string' ? fields.message : `the gateway answered with status ${status}`)
    this.name = 'GatewayError'
    this.status = status
    this.code = typeof fields.code === 'string' ? fields.code : 'gateway.unreachable'
    this.hint = typeof fields.hint === 'string' ? fields.hint : undefined
    this.at = typeof fields.at === 'string' ? fields.at : undefined
    this.violations = Array.isArray(fields.validation_errors) ? fields.validation_errors : []
  }
}

const TENANT_KEY = 'hookhelm.tenant'

/** The tenant that a master caller works for. A reload keeps it; another tab has its own. */
export function chosenTenant(): string | undefined {
  return sessionStorage.getItem(TENANT_KEY) ?? undefined
}

/** Every view shows data of one tenant, so a change starts the app anew. */
export function chooseTenant(tenant: string): void {
  sessionStorage.setItem(TENANT_KEY, tenant)
  location.reload()
}

export type MethodName = keyof Methods
export type Result<M extends MethodName> = Methods[M]['result']
/** The parameters of a method. An optional one that is undefined is not sent. */
export type Params<M extends MethodName> = Sendable<Methods[M]['params']>
type Sendable<Given> = {
  readonly [Name in keyof Given]: Record<never, never> extends Pick<Given, Name>
    ? Given[Name] | undefined
    : Given[Name]
}

/** Parameters that a person is still writing: the gateway checks them, and names the field that is wrong. */
export function unchecked<Given>(fields: Readonly<Record<string, unknown>>): Given {
  return fields as Given
}

/** Calls a method of the gateway. The session cookie says who calls. */
export async function call<M extends MethodName>(
  method: M,
  params: Params<M>,
  signal?: AbortSignal,
): Promise<Result<M>> {
  // The gateway answers as its table of methods declares.
  return (await post(`/v1/call/${method}`, params, signal)) as Result<M>
}

/** Opens a browser session for a pasted token. */
export async function logIn(token: string): Promise<void> {
  await post('/login', { token })
}

export async function logOut(): Promise<void> {
  await fetch('/logout', { method: 'POST' })
  location.reload()
}

async function post(path: string, body: unknown, signal?: AbortSignal): Promise<unknown> {
  const tenant = chosenTenant()
  const response = await fetch(path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(tenant === undefined ? {} : { 'x-hookhelm-tenant': tenant }),
    },
    body: JSON.stringify(body),
    signal: signal ?? null,
  }).catch((cause: unknown) => {
    if (signal?.aborted) throw cause
    throw new GatewayError(0, { message: 'the gateway does not answer', code: 'gateway.unreachable' })
  })
  if (response.status === 204) return undefined
  const text = response.text().then(parseExactJson)
  const answer: unknown = await text.catch((cause: unknown) => {
    if (signal?.aborted) throw cause
    if (!response.ok) return undefined
    throw new GatewayError(0, {
      message: 'the answer of the gateway was cut off',
      code: 'gateway.unreachable',
    })
  })
  if (response.ok) return answer
  throw new GatewayError(response.status, errorFields(answer))
}

function errorFields(answer: unknown): Readonly<Record<string, unknown>> {
  if (typeof answer !== 'object' || answer === null || !('error' in answer)) return {}
  const error = recordOf(answer.error)
  return { ...error, ...recordOf(error.details) }
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
