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
