import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { serverError } from '../engine/core/errors/server-errors.ts'
import {
  CHALLENGE_HEADER,
  PROOF_HEADER,
  PROOF_PATH,
  serverAddress,
  serverProof,
} from '../safe/secrets/server-proof.ts'
import { sameText } from '../safe/secrets/token.ts'

const MAX_ANSWER_BYTES = 8_192
const TIMEOUT_MS = 10_000

/**
 * Connects to the gateway at an http address. Before the connection is used, the other end proves that it knows the token:
 * after the gateway has ended, any user of the machine can listen on its port. Rejects with `gateway.unproven`.
 */
export function connectProven(url: string, token: string): Promise<Socket> {
  const { hostname, host, port } = new URL(url)
  const challenge = randomBytes(32).toString('base64url')
  const socket = connect({
    ...{ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80) },
    noDelay: true,
  })
  return new Promise((resolve, reject) => {
    let answer = ''
    const refuse = (error: Error) => {
      socket.destroy()
      reject(error)
    }
    const end = () => refuse(unproven(url))
    const read = () => {
      answer += socket.read()?.toString('latin1') ?? ''
      if (!answer.includes('\r\n\r\n')) return answer.length > MAX_ANSWER_BYTES ? end() : undefined
      const expected = serverProof(token, challenge, serverAddress(socket, 'client'))
      if (!sameText(proofIn(answer), expected)) return end()
      socket.off('readable', read).off('error', refuse).off('close', end).off('timeout', end)
      socket.setTimeout(0)
      resolve(socket)
    }
    socket.setTimeout(TIMEOUT_MS)
    socket.on('readable', read).on('error', refuse).on('close', end).on('timeout', end)
    const lines = [`GET ${PROOF_PATH} HTTP/1.1`, `Host: ${host}`, `${CHALLENGE_HEADER}: ${challenge}`]
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  })
}

/** An answer without a body, so that the next bytes of the connection are another answer. */
function proofIn(answer: string): string {
  const isWhole = answer.startsWith('HTTP/1.1 204 ') && answer.endsWith('\r\n\r\n')
  return isWhole ? (new RegExp(`\r\n${PROOF_HEADER}: (\\S+)\r\n`, 'i').exec(answer)?.[1] ?? '') : ''
}

function unproven(url: string): Error {
  return serverError(
    'gateway.unproven',
    `what listens at ${url} did not prove that it is your gateway; the token was not sent`,
  )
}
