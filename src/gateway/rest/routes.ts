import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { isRecord } from '../../engine/core/check.ts'
import { HookError } from '../../engine/core/error.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import { parseJsonBytes } from '../../safe/json.ts'
import type { Admission } from '../auth/admission.ts'
import { callMethod, findMethod, type MethodTable } from '../call-method.ts'
import type { Method } from '../methods/method.ts'
import type { GatewayParts } from '../parts.ts'
import { apiHeaders, retryAfterSeconds } from '../server/answer.ts'
import { checkLength, checkMediaType, hasBody, readBody } from '../server/body.ts'
import { errorAnswer } from '../server/error-answers.ts'
import { openApi } from './openapi.ts'
import { queryReader } from './query.ts'

export interface RouteOptions {
  readonly parts: GatewayParts
  readonly methods: MethodTable
  readonly admission: Admission
}

type Env = { Bindings: HttpBindings }
type Call = Context<Env>

/** Every method at its own route, all of them at `/v1/call/<name>`, and the document that describes them. */
export function apiRoutes({ parts, methods, admission }: RouteOptions): Hono<Env> {
  const app = new Hono<Env>()
  let document: string | undefined

  app.get('/v1/openapi.json', async (c) => {
    await admission.admit(c.env.incoming)
    document ??= JSON.stringify(openApi([...methods.values()], parts.version))
    return answer(document)
  })
  // The typed client calls by name and needs no table of routes.
  app.post('/v1/call/:method', async (c) => {
    const { caller } = await admission.admit(c.env.incoming)
    const row = findMethod(methods, c.req.param('method'))
    return answerValue(await callMethod(row, await bodyOf(c), { caller, parts }))
  })
  for (const row of methods.values()) {
    const read = paramsReader(row)
    app.on(row.rest.verb, row.rest.path, async (c) => {
      const { caller } = await admission.admit(c.env.incoming)
      return answerValue(await callMethod(row, await read(c), { caller, parts }))
    })
  }
  return app
}

/** Where the parameters of a method stand: in the path, and in the query or the body by its verb. */
function paramsReader(row: Method): (c: Call) => Promise<Record<string, unknown>> {
  const inAddress = queryReader(row)
  const inQuery = row.rest.verb === 'GET' || row.rest.verb === 'DELETE'
  return async (c) => {
    const path = inAddress(
      Object.fromEntries(Object.entries(c.req.param()).map(([key, text]) => [key, [text]])),
    )
    const rest = inQuery ? inAddress(c.req.queries()) : await bodyOf(c)
    for (const name of Object.keys(path)) {
      if (Object.hasOwn(rest, name) && rest[name] !== path[name])
        throw serverError('gateway.request', `${name} differs between the path and the rest`, { at: name })
    }
    return { ...rest, ...path }
  }
}

async function bodyOf(c: Call): Promise<Record<string, unknown>> {
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

function answerValue(value: unknown): Response {
  return answer(JSON.stringify(value ?? null))
}

export function answer(json: string, status = 200): Response {
  return new Response(json, { status, headers: [...headers, ['Content-Type', 'application/json']] })
}

const headers: [string, string][] = apiHeaders.map(([name, value]) => [name, value])

/** The same words as `sendError`, for what goes through the router. */
function answerError(thrown: unknown, log: GatewayParts['log']): Response {
  const { status, body } = errorAnswer(thrown, log)
  const response = answer(JSON.stringify({ error: body }), status)
  if (body.retryAfterMs !== undefined)
    response.headers.set('Retry-After', retryAfterSeconds(body.retryAfterMs))
  if (status === 401) response.headers.set('WWW-Authenticate', 'Bearer')
  if (status === 413) response.headers.set('Connection', 'close')
  return response
}

export function listener(
  app: Hono<Env>,
  log: GatewayParts['log'],
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  app.onError((error) => answerError(error, log))
  app.notFound(() => answerError(serverError('gateway.not_found', 'there is nothing at this address'), log))
  return getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    errorHandler: (error) => answerError(error, log),
  })
}
