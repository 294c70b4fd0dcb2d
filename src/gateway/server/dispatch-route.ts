import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { HookError } from '../../engine/core/error.ts'
import type { Log } from '../../engine/core/sink.ts'
import { decodeUtf8, parseJson } from '../../safe/json.ts'
import type { Admission } from '../auth/admission.ts'
import type { Caller } from '../auth/caller.ts'
import type { Capacity } from '../capacity.ts'
import { readDispatchRequest } from '../dispatch-request.ts'
import type { GatewayParts } from '../parts.ts'
import { sendError, sendJson } from './answer.ts'
import { checkLength, checkMediaType, MAX_BODY, readBody } from './body.ts'

export interface EventRouteOptions {
  readonly log: Log
  readonly admission: Admission
  readonly capacity: Capacity
}

/** How one route turns a body into an answer, which is JSON. */
export interface EventRoute {
  readonly maxBytes: number
  answer(asked: Asked): Promise<string>
}

interface Asked {
  readonly caller: Caller
  readonly text: string
  /** Path and query. */
  readonly url: string
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal | undefined
}

/**
 * The routes that every tool call of every agent waits for. They stand alone on node:http: no router, hardly a promise but
 * the dispatcher's own, and one abort signal for a connection rather than one for a request.
 */
export function createEventRoute({ log, admission, capacity }: EventRouteOptions, route: EventRoute) {
  const gone = createGoneSignals()

  function read(caller: Caller, request: IncomingMessage, response: ServerResponse): void {
    checkMediaType(request)
    checkLength(request, route.maxBytes)
    capacity.check(caller.tenant)
    const take = (body: Buffer | HookError) => {
      if (body instanceof HookError) sendError(response, body, log)
      else decide(caller, body, response)
    }
    readBody(request, response, take, route.maxBytes)
  }

  function decide(caller: Caller, body: Buffer, response: ServerResponse): void {
    capacity.enter()
    try {
      const { socket, req } = response
      const signal = socket === null ? undefined : gone(socket)
      route.answer({ caller, text: decodeUtf8(body), url: req.url ?? '', signal }).then(
        (json) => {
          capacity.leave()
          sendJson(response, json)
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

/** `POST /v1/dispatch`: one event, one decision. */
export function dispatchRoute({ dispatcher }: Pick<GatewayParts, 'dispatcher'>): EventRoute {
  return {
    maxBytes: MAX_BODY,
    answer({ caller, text, signal }) {
      const request = readDispatchRequest(parseJson(text))
      return dispatcher
        .dispatch(caller, request, signal === undefined ? { text } : { text, signal })
        .then(({ json }) => json)
    },
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
