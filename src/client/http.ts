import type { buildConnector, Pool } from 'undici'
import { isHookError } from '../engine/core/errors/error.ts'
import { handlerError } from '../engine/core/errors/handler-errors.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import { parseJson } from '../safe/json.ts'
import { loadUndici } from '../safe/outbound/load-undici.ts'
import { type CallDeadline, startDeadline } from './deadline.ts'
import { connectProven } from './proven-connection.ts'
import { errorFromWire, unreachableGateway } from './wire-error.ts'

export interface HttpOptions {
  readonly url: string
  readonly token: string | undefined
  /** With a master token: the tenant to work for. */
  readonly tenant: string | undefined
  /** The gateway proves on each connection that it knows the token. */
  readonly proven: boolean
}

/** JSON over keep-alive connections. */
export interface Http {
  post(path: string, body: unknown, deadlineOptions: CallDeadline): Promise<unknown>
  close(): Promise<void>
}

/** Answers of the gateway may be larger than what it accepts: pages of history, for example. */
const LIMITS = { maxBytes: 64 * 1_048_576, maxKeys: 1_000_000, maxDepth: 256 } as const
/** A call that waits for a person holds its connection, and other calls must not wait for it. */
const CONNECTIONS = 256

function provenConnector(url: string, token: string): buildConnector.connector {
  return (_, callback) => {
    connectProven(url, token).then(
      (socket) => callback(null, socket),
      (thrown) => callback(thrown, null),
    )
  }
}

/** The caller chose the address, so the checks for addresses from hooks do not apply. */
export function createHttp({ url, token, tenant, proven }: HttpOptions): Http {
  let pool: Pool | undefined
  const headers = {
    'content-type': 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(tenant === undefined ? {} : { 'x-hookhelm-tenant': tenant }),
  }

  async function exchange(path: string, body: string, signal: AbortSignal): Promise<unknown> {
    pool ??= new (loadUndici().Pool)(url, {
      ...{ connections: CONNECTIONS, pipelining: 1, headersTimeout: 0 },
      ...(proven && token !== undefined ? { connect: provenConnector(url, token) } : {}),
    })
    const answer = await pool.request({ path, method: 'POST', headers, body, signal })
    const text = await answer.body.text()
    if (!String(answer.headers['content-type']).startsWith('application/json'))
      throw unreachableGateway(
        url,
        handlerError('outbound.status', `status ${answer.statusCode} without JSON`),
      )
    const value = parseJson(text, LIMITS)
    if (answer.statusCode < 300) return value
    throw errorFromWire(isRecord(value) ? value.error : undefined)
  }

  return {
    async post(path, body, deadlineOptions) {
      const deadline = startDeadline(deadlineOptions)
      try {
        return await exchange(path, JSON.stringify(body), deadline.signal)
      } catch (thrown) {
        if (deadline.signal.aborted) throw deadline.signal.reason
        throw isHookError(thrown) ? thrown : unreachableGateway(url, thrown)
      } finally {
        deadline.clear()
      }
    },
    close: async () => pool?.destroy(),
  }
}
