import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { isRecord } from '../engine/core/schema/check.ts'
import type { Clock } from '../engine/core/time/clock.ts'
import { stableJson } from '../engine/core/values/stable-json.ts'
import { type ApprovalQuestion, approvalForm } from './approval-requests.ts'
import type { CallDecision } from './call-gate.ts'
import type { McpResult } from './tool-result.ts'

/** An answer after this time is no answer. */
const STATE_MS = 5 * 60_000
const MAX_PAUSED = 10_000
const MAX_STATE = 200
const PREFIX = 'hookhelm.'
const QUESTION = 'hookhelm_approval'

/** A call that waits for the client's next request. */
export interface PausedCall {
  readonly decision: CallDecision
  readonly useId: string
  /** The person agreed; the server asks the client for input of its own. */
  readonly isApproved: boolean
  /** What the client had sent for the server in the request that the proxy answered itself. */
  readonly forServer: { readonly requestState?: unknown; readonly inputResponses?: unknown }
}

/** What a `requestState` is bound to. */
export interface CallBinding {
  readonly tool: string
  readonly name: string
  readonly input: unknown
  readonly task: unknown
  /** Who calls, as far as the proxy can tell. */
  readonly caller: string
}

/**
 * The questions to a person that revision 2026-07-28 carries in results. The client keeps the state between two
 * requests, so it is signed with a key of this process, expires, is valid once, and only for the same call.
 */
export class ApprovalStates {
  readonly #clock: Clock
  readonly #key = randomBytes(32)
  readonly #paused = new Map<string, { readonly call: PausedCall; readonly expires: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns the state for the client. */
  issue(binding: CallBinding, call: PausedCall): string {
    const id = randomUUID()
    const expires = this.#clock.elapsed() + STATE_MS
    this.#paused.set(id, { call, expires })
    const [oldest] = this.#paused.keys()
    if (this.#paused.size > MAX_PAUSED && oldest !== undefined) this.#paused.delete(oldest)
    return `${PREFIX}${id}.${this.#sign(id, binding)}`
  }

  /** Returns the paused call, or why the state is refused. Each state can be used once. */
  redeem(state: string, binding: CallBinding): PausedCall | string {
    if (state.length > MAX_STATE) return 'it is too long'
    const [id = '', signature = ''] = state.slice(PREFIX.length).split('.')
    const paused = this.#paused.get(id)
    const isGenuine = isEqual(signature, this.#sign(id, binding)) && state === `${PREFIX}${id}.${signature}`
    if (!isGenuine) return 'it was altered, belongs to another call, or this proxy did not issue it'
    this.#paused.delete(id)
    if (paused === undefined) return 'it was already used'
    return paused.expires <= this.#clock.elapsed() ? 'it has expired' : paused.call
  }

  #sign(id: string, binding: CallBinding): string {
    const digest = createHash('sha256').update(stableJson(binding)).digest('hex')
    return createHmac('sha256', this.#key).update(`tools/call ${id} ${digest}`).digest('base64url')
  }
}

/** A state of a proxy. A server's own state that looks like one never reaches the client. */
export function isProxyState(state: unknown): state is string {
  return typeof state === 'string' && state.startsWith(PREFIX)
}

export function inputRequiredResult(question: ApprovalQuestion, requestState: string): McpResult {
  const request = { method: 'elicitation/create', params: { mode: 'form', ...approvalForm(question) } }
  return { resultType: 'input_required', inputRequests: { [QUESTION]: request }, requestState }
}

/** What the person answered; undefined if the client sent no answer. */
export function readApproval(inputResponses: unknown): 'accept' | 'refuse' | undefined {
  const given = isRecord(inputResponses) ? inputResponses[QUESTION] : undefined
  if (!isRecord(given)) return undefined
  return given.action === 'accept' ? 'accept' : 'refuse'
}

function isEqual(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
