import { Pool } from 'undici'
import { isRecord } from '../engine/core/check.ts'
import { HookError, isHookError } from '../engine/core/error.ts'
import { parseJson } from '../safe/json.ts'
import { type Patience, startDeadline } from './deadline.ts'
import { errorOf, unreachable } from './wire-error.ts'

export interface HttpOptions {
  readonly url: string
  readonly token: string | undefined
  /** For master tokens: whom to work for. */
  readonly tenant: string | undefined
}

/** JSON over connections that stay open. */
export interface Http {
  post(path: string, body: unknown, patience: Patience): Promise<unknown>
  close(): Promise<void>
}

/** Pages of history are larger than what a stranger may send us. */
const LIMITS = { maxBytes: 64 * 1_048_576, maxKeys: 1_000_000, maxDepth: 256 } as const
const CONNECTIONS = 32

/** The address is our user's own, so that none of the checks for addresses from hooks apply. */
export function createHttp({ url, token, tenant }: HttpOptions): Http {
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 })
  const headers = {
    'content-type': 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(tenant === undefined ? {} : { 'x-hookhelm-tenant': tenant }),
  }

  async function exchange(path: string, body: string, signal: AbortSignal): Promise<unknown> {
    const answer = await pool.request({ path, method: 'POST', headers, body, signal })
    const text = await answer.body.text()
    if (!String(answer.headers['content-type']).startsWith('application/json'))
      throw unreachable(url, new HookError('outbound.status', `status ${answer.statusCode} without JSON`))
    const value = parseJson(text, LIMITS)
    if (answer.statusCode < 300) return value
    throw errorOf(isRecord(value) ? value.error : undefined)
  }

  return {
    async post(path, body, patience) {
      const deadline = startDeadline(patience)
      try {
        return await exchange(path, JSON.stringify(body), deadline.signal)
      } catch (thrown) {
        if (deadline.signal.aborted) throw deadline.signal.reason
        throw isHookError(thrown) ? thrown : unreachable(url, thrown)
      } finally {
        deadline.clear()
      }
    },
    close: () => pool.destroy(),
  }
}
