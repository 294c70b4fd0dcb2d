import { createHmac } from 'node:crypto'
import type { Socket } from 'node:net'

/** Where a gateway proves that it knows the owner's token, before a client sends it. */
export const PROOF_PATH = '/v1/proof'
export const CHALLENGE_HEADER = 'hookhelm-challenge'
export const PROOF_HEADER = 'hookhelm-proof'

/**
 * What only a program that knows the token can compute. It covers the address of the gateway: a program that listens at
 * another address cannot pass on the proof of the gateway.
 */
export function serverProof(token: string, challenge: string, address: string): string {
  const proven = JSON.stringify(['hookhelm gateway', challenge, address])
  return createHmac('sha256', token).update(proven).digest('base64url')
}

type End = Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>

/** The address of the server as each end of a connection sees it. */
export function serverAddress(socket: End, end: 'client' | 'server'): string {
  const { localAddress, localPort, remoteAddress, remotePort } = socket
  const [host = '', port = 0] = end === 'client' ? [remoteAddress, remotePort] : [localAddress, localPort]
  return `${host.replace(/^::ffff:/, '')} ${port}`
}
