import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Admission } from '../../../access/admission.ts'
import type { Caller } from '../../../access/caller.ts'
import { HookError } from '../../../engine/core/errors/error.ts'
import { callerWait } from '../../../pipeline/caller-wait.ts'
import { decodeUtf8, parseJson } from '../../../safe/json.ts'
import { readDispatchRequest } from '../dispatch-request.ts'
import type { Door } from '../door.ts'
import { sendErrorReply, sendJson } from './http-reply.ts'
import { checkLength, checkMediaType, MAX_BODY, readBody } from './http-request.ts'

export interface EventRouteOptions extends Pick<Door, 'log' | 'capacity'> {
  readonly admission: Admission
}

/** How one route turns a request body into a JSON reply. */
export interface EventRoute {
  readonly maxBytes: number
  reply(request: EventRequest): Promise<string>
}

interface EventRequest {
  readonly caller: Caller
  readonly text: string
  /** Path and query. */
  readonly url: string
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal | undefined
  /** Called when the request waits for a person: it takes no capacity then. */
  onPending(): void
}

/**
 * Serves the routes that every tool call of every agent waits for. They use node:http directly: no router, one promise per
 * event (the dispatcher's), and one abort signal per connection instead of one per request.
 */
export function createEventRoute({ log, admission, capacity }: EventRouteOptions, route: EventRoute) {
  const disconnectSignal = createDisconnectSignals()

  function receive(caller: Caller, request: IncomingMessage, response: ServerResponse): void {
    checkMediaType(request)
    checkLength(request, route.maxBytes)
    capacity.check(caller.tenant)
    const take = (body: Buffer | HookError) => {
      if (body instanceof HookError) sendErrorReply(response, body, log)
      else decide(caller, body, response)
    }
    readBody(request, response, take, route.maxBytes)
  }

  function decide(caller: Caller, body: Buffer, response: ServerResponse): void {
    const leave = capacity.enter()
    try {
      const { socket, req } = response
      const signal = socket === null ? undefined : disconnectSignal(socket)
      const request = { caller, text: decodeUtf8(body), url: req.url ?? '', signal, onPending: leave }
      route.reply(request).then(
        (json) => {
          leave()
          sendJson(response, json)
        },
        (thrown: unknown) => {
          leave()
          sendErrorReply(response, thrown, log)
        },
      )
    } catch (thrown) {
      leave()
      sendErrorReply(response, thrown, log)
    }
  }

  return (request: IncomingMessage, response: ServerResponse): void => {
    const refuse = (thrown: unknown) => sendErrorReply(response, thrown, log)
    try {
      const admitted = admission.admit(request)
      if (!(admitted instanceof Promise)) receive(admitted.caller, request, response)
      else admitted.then(({ caller }) => receive(caller, request, response)).catch(refuse)
    } catch (thrown) {
      refuse(thrown)
    }
  }
}

/** `POST /v1/dispatch`: one event, one decision. */
export function dispatchRoute({ dispatcher }: Pick<Door, 'dispatcher'>): EventRoute {
  return {
    maxBytes: MAX_BODY,
    reply({ caller, text, signal, onPending }) {
      const request = readDispatchRequest(parseJson(text))
      return dispatcher
        .dispatch(caller, request, {
          text,
          ...(signal === undefined ? {} : { signal }),
          ...callerWait(request.within_ms, false, onPending),
        })
        .then(({ json }) => json)
    },
  }
}

/** One signal for all requests of a connection: HTTP/1.1 requests follow one another and end with the connection. */
function createDisconnectSignals(): (socket: Socket) => AbortSignal {
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
