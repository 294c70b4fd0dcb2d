import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import type { Admission } from '../../../access/admission.ts'
import { isSessionKey } from '../../../access/logins.ts'
import type { RevocationWatch } from '../../../access/revocation-watch.ts'
import type { AdmittedCaller } from '../../../access/tokens.ts'
import { HookError } from '../../../engine/core/errors/error.ts'
import { serverError } from '../../../engine/core/errors/server-errors.ts'
import type { Log } from '../../../engine/core/records/sink.ts'
import { isRecord } from '../../../engine/core/schema/check.ts'
import { readSchema } from '../../../engine/core/schema/schema.ts'
import type { Method, OriginalRoute } from '../../../methods/method.ts'
import { parseJsonBytes } from '../../../safe/json.ts'
import { callMethod, requireMethod } from '../call-method.ts'
import type { Door } from '../door.ts'
import { type ErrorReply, errorReply } from '../http/error-reply.ts'
import { apiHeaders, retryAfterSeconds } from '../http/http-reply.ts'
import { checkLength, checkMediaType, hasBody, readBody } from '../http/http-request.ts'
import { coordinatorReply, isCoordinatorRoute } from './coordinator-errors.ts'
import type { EventStreams } from './event-streams.ts'
import { openApi } from './openapi.ts'
import { queryParams } from './query-params.ts'

export interface ApiRoutesOptions {
  readonly door: Pick<Door, 'parts' | 'methods'>
  readonly admission: Admission
  readonly revocations: RevocationWatch
  readonly streams: EventStreams
}

/** `shapeError`: how the route of a failed request replies, if it has a form of its own. */
export type ApiEnv = { Bindings: HttpBindings; Variables: { shapeError?: typeof plainReply } }
type ApiContext = Context<ApiEnv>

/** Every method at its route, every method by name at `/v1/call/<name>`, and the OpenAPI document. */
export function apiRoutes({
  door: { parts, methods },
  admission,
  revocations,
  streams,
}: ApiRoutesOptions): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>()
  let document: unknown

  app.get('/v1/openapi.json', async (c) => {
    await admission.admit(c.env.incoming)
    document ??= openApi([...methods.values()], parts.version)
    return jsonResponse(document)
  })
  // The typed client calls methods by name and needs no route table.
  app.post('/v1/call/:method', async (c) => {
    const admitted = await admission.admit(c.env.incoming)
    const row = requireMethod(methods, c.req.param('method'))
    return jsonResponse(await call(c, row, await readJsonBody(c), admitted))
  })
  for (const row of methods.values()) for (const route of routesOf(row)) addRoute(row, route)
  return app

  /** A method may wait. It ends with the token of its caller. */
  async function call(
    c: ApiContext,
    row: Method,
    params: unknown,
    admitted: AdmittedCaller,
  ): Promise<unknown> {
    const unwatch = revocations.add(admitted, () => c.env.outgoing.destroy())
    const { caller } = admitted
    const context = { caller, parts, signal: disconnectSignal(c), address: addressOf(c) }
    return callMethod(row, params, context).finally(unwatch)
  }

  function addRoute(row: Method, { path, params: fixed, answer: shape }: OriginalRoute<unknown>): void {
    const readParams = paramsReader(row)
    const answer = async (c: ApiContext, params: Record<string, unknown>, admitted: AdmittedCaller) => {
      if (row.kind === 'subscription')
        return streams.open(row, params, { admitted, lastEventId: c.req.header('last-event-id') })
      const result = await call(c, row, params, admitted)
      return resultResponse(row, shape === undefined ? result : shape(result))
    }
    app.on(row.rest.verb, path, async (c) => {
      const admitted = await admission.admit(c.env.incoming)
      if (row.rest.changes && isSessionKey(admitted.key))
        throw serverError('auth.origin', `${row.name} needs a token: a browser session cannot call it by GET`)
      const params = { ...fixed, ...(await readParams(c)) }
      if (!isCoordinatorRoute(path)) return answer(c, params, admitted)
      return answer(c, params, admitted).catch((thrown: unknown) => {
        const isUnreadable = readSchema(row.params, params).problems.length > 0
        c.set('shapeError', (reply) => coordinatorReply(reply, thrown, isUnreadable))
        throw thrown
      })
    })
  }
}

/** The route of a method, and that of the original coordinator if it has one. */
function routesOf({ rest: { path, original } }: Method): readonly OriginalRoute<unknown>[] {
  return original === undefined ? [{ path }] : [{ path }, original]
}

/** Aborted when the client closes the connection before its response. */
function disconnectSignal({ env: { outgoing } }: ApiContext): AbortSignal {
  const disconnected = new AbortController()
  outgoing.once('close', () => {
    if (!outgoing.writableEnded) disconnected.abort()
  })
  return disconnected.signal
}

function resultResponse({ rest: { status } }: Method, result: unknown): Response {
  if (status !== 204) return jsonResponse(result, status)
  const isEmpty = isRecord(result) && Object.keys(result).length === 0
  if (!isEmpty) return jsonResponse(result)
  return new Response(null, { status, headers: apiHeaders })
}

/** Reads parameters from the path, and from the query or the body depending on the verb. */
function paramsReader(row: Method): (c: ApiContext) => Promise<Record<string, unknown>> {
  const readTexts = queryParams(row)
  const inQuery = row.rest.verb === 'GET' || row.rest.verb === 'DELETE'
  return async (c) => {
    const path = readTexts(
      Object.fromEntries(Object.entries(c.req.param()).map(([key, text]) => [key, [text]])),
    )
    const rest = inQuery ? readTexts(c.req.queries()) : await readJsonBody(c)
    for (const name of Object.keys(path)) {
      if (Object.hasOwn(rest, name) && rest[name] !== path[name])
        throw serverError('gateway.request', `${name} has another value in the path`, { at: name })
    }
    return { ...rest, ...path }
  }
}

/** The JSON object in the body of a request; empty without a body. */
export async function readJsonBody(c: ApiContext): Promise<Record<string, unknown>> {
  const { incoming, outgoing } = c.env
  if (!hasBody(incoming)) return {}
  checkMediaType(incoming)
  checkLength(incoming)
  const body = await new Promise<Buffer | HookError>((resolve) => readBody(incoming, outgoing, resolve))
  if (body instanceof HookError) throw body
  const value = parseJsonBytes(body)
  if (!isRecord(value)) throw serverError('gateway.request', 'the body must be an object')
  return value
}

export function jsonResponse(value: unknown, status = 200): Response {
  return apiResponse(JSON.stringify(value ?? null), { status, type: 'application/json' })
}

/** A response with the headers of the API. */
export function apiResponse(
  body: string | ReadableStream,
  { status = 200, type }: { readonly status?: number; readonly type: string },
): Response {
  return new Response(body, { status, headers: [...apiHeaders, ['Content-Type', type]] })
}

/** The same reply as `sendErrorReply`, for requests that pass through the router. */
function errorResponse(thrown: unknown, log: Log, shape = plainReply): Response {
  const reply = errorReply(thrown, log)
  const { body } = reply
  const { status, body: shaped } = shape(reply)
  const response = jsonResponse(shaped, status)
  if (body.retryAfterMs !== undefined)
    response.headers.set('Retry-After', retryAfterSeconds(body.retryAfterMs))
  if (status === 401) response.headers.set('WWW-Authenticate', 'Bearer')
  if (status === 413) response.headers.set('Connection', 'close')
  return response
}

function plainReply({ status, body }: ErrorReply): { readonly status: number; readonly body: object } {
  return { status, body: { error: body } }
}

/** The listener for node:http that serves the routes. */
export function routeListener(
  app: Hono<ApiEnv>,
  log: Log,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  app.onError((error, c) => errorResponse(error, log, c.get('shapeError')))
  app.notFound(() => errorResponse(serverError('gateway.not_found', 'there is nothing at this address'), log))
  return getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    errorHandler: (error) => errorResponse(error, log),
  })
}

function addressOf(c: ApiContext): string | undefined {
  return c.env.incoming.socket.remoteAddress
}
