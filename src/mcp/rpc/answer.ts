/** The codes of JSON-RPC, and two of our own. */
export const rpcCodes = {
  unreadable: -32700,
  invalid: -32600,
  unknownMethod: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** The connection to the server is gone; what clients know as "connection closed". */
  gone: -32000,
  /** A hook blocked a call that is answered with a task, and so cannot be answered with an error result. */
  blocked: -32050,
} as const

export type RpcCode = (typeof rpcCodes)[keyof typeof rpcCodes]

export function rpcResultText(id: unknown, result: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}

export function rpcErrorText(id: unknown, code: RpcCode, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error: { code, message: `hookhelm: ${message}` } })
}

/**
 * Which request an id names. Clients differ in whether `"5"` is 5, and an integer beyond 2⁵³ comes back rounded, so
 * ids that some client takes for the same are the same here: an answer must not pass for one that nobody waits for.
 * Nothing for a value that is no id.
 */
export function requestKey(id: unknown): string | undefined {
  if (typeof id === 'string') {
    const number = Number(id)
    return Number.isNaN(number) ? `text ${id}` : `number ${number}`
  }
  if (typeof id === 'number') return `number ${id}`
  return isRawJSON(id) ? `number ${Number(JSON.stringify(id))}` : undefined
}

/** Known to Node 24, not yet to the compiler's library. */
const { isRawJSON } = JSON as unknown as { isRawJSON(value: unknown): boolean }
