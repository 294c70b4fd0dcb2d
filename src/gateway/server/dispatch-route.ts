import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { HookError } from '../../engine/core/error.ts'
import { decodeUtf8, parseJson } from '../../safe/json.ts'
import type { Admission } from '../auth/admission.ts'
import type { Caller } from '../auth/caller.ts'
import type { Capacity } from '../capacity.ts'
import { readDispatchRequest } from '../dispatch-request.ts'
import type { GatewayParts } from '../parts.ts'
import { sendError, sendJson } from './answer.ts'
import { checkLength, checkMediaType, readBody } from './body.ts'

export interface DispatchRouteOptions {
  readonly parts: Pick<GatewayParts, 'dispatcher' | 'log'>
  readonly admission: Admission
  readonly capacity: Capacity
}

/**
 * `POST /v1/dispatch`, which every tool call of every agent waits for. It stands alone on node:http: no router, no
 * promise but the dispatcher's own, and one abort signal for a connection rather than one for a request.
 */
export function createDispatchRoute({ parts, admission, capacity }: DispatchRouteOptions) {
  const { dispatcher, log } = parts
  const gone = createGoneSignals()

  function read(caller: Caller, request: IncomingMessage, response: ServerResponse): void {
    checkMediaType(request)
    checkLength(request)
    capacity.check(caller.tenant)
    readBody(request, response, (body) => {
      if (body instanceof HookError) sendError(response, body, log)
      else decide(caller, body, response)
    })
  }

  function decide(caller: Caller, body: Buffer, response: ServerResponse): void {
    capacity.enter()
    try {
      const text = decodeUtf8(body)
      const request = readDispatchRequest(parseJson(text))
      const { socket } = response
      const how = socket === null ? { text } : { text, signal: gone(socket) }
      dispatcher.dispatch(caller, request, how).then(
        (answer) => {
          capacity.leave()
          sendJson(response, answer.json)
        },
        (thrown: unknown) => {
          capacity.leave()
          sendError(response, thrown, log)
        },
      )
    } catch (thrown) {
      capacity.leave()
      sendError(response, thrown, log)
    }
  }

  return (request: IncomingMessage, response: ServerResponse): void => {
    const refuse = (thrown: unknown) => sendError(response, thrown, log)
    try {
      const admitted = admission.admit(request)
      if (!(admitted instanceof Promise)) read(admitted.caller, request, response)
      else admitted.then(({ caller }) => read(caller, request, response)).catch(refuse)
    } catch (thrown) {
      refuse(thrown)
    }
  }
}

/** One signal for all requests of a connection: they come one after the other, and all end with it. */
function createGoneSignals(): (socket: Socket) => AbortSignal {
  const controllers = new WeakMap<Socket, AbortController>()
  return (socket) => {
    const known = controllers.get(socket)
    if (known !== undefined) return known.signal
    const controller = new AbortController()
    controllers.set(socket, controller)
    socket.once('close', () => controller.abort())
    return controller.signal
  }
}
