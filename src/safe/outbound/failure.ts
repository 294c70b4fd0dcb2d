import { HookError } from '../../engine/core/error.ts'
import type { EngineCode } from '../../engine/core/error-table.ts'

const codes: Readonly<Record<string, EngineCode>> = {
  UND_ERR_CONNECT_TIMEOUT: 'outbound.timeout',
  UND_ERR_HEADERS_TIMEOUT: 'outbound.timeout',
  UND_ERR_BODY_TIMEOUT: 'outbound.timeout',
  ETIMEDOUT: 'outbound.timeout',
  UND_ERR_HEADERS_OVERFLOW: 'outbound.too_large',
  HPE_HEADER_OVERFLOW: 'outbound.too_large',
  EPROTO: 'outbound.tls',
}
const tls =
  /^(?:CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_CA|CRL_)/

/** Whatever went wrong on the way out, with a code, and without anything of the request or the answer. */
export function outboundError(thrown: unknown, host: string, signal: AbortSignal): HookError {
  if (signal.aborted)
    return new HookError('outbound.timeout', `${host} did not answer in time`, { cause: thrown })
  if (thrown instanceof HookError) return thrown
  // `fetch` wraps what the connector said.
  if (thrown instanceof Error && thrown.cause instanceof HookError) return thrown.cause
  const system = systemCode(thrown)
  const code = codes[system] ?? (tls.test(system) ? 'outbound.tls' : 'outbound.connection')
  return new HookError(code, `${host}: ${system}`, { cause: thrown })
}

/** The code of an error, or of the first of several: a host may have been dialled at all its addresses. */
function systemCode(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'unknown error'
  if ('code' in thrown && typeof thrown.code === 'string') return thrown.code
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return systemCode(thrown.errors[0])
  return thrown.cause instanceof Error ? systemCode(thrown.cause) : thrown.name
}
