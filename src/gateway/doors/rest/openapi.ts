import type { Schema } from '../../../engine/core/schema/schema.ts'
import { type Json, toJsonSchema } from '../../../hook-files/schema/json-schema.ts'
import type { Method } from '../../../methods/method.ts'

/** The OpenAPI document of all methods in the table. */
export function openApi(methods: readonly Method[], version: string): unknown {
  const paths: Record<string, Record<string, unknown>> = { ...fixedPaths }
  for (const row of methods) {
    const path = row.rest.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [row.rest.verb.toLowerCase()]: operation(row) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Hookhelm gateway', version },
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: errorSchema },
    },
  }
}

function operation(row: Method): unknown {
  const { fields, required } = row.params
  const inPath = [...row.rest.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const others = Object.entries(fields).filter(([name]) => !inPath.includes(name))
  const inQuery = row.rest.verb === 'GET' || row.rest.verb === 'DELETE'
  const body = {
    ...row.params,
    fields: Object.fromEntries(others),
    required: required.filter((name) => !inPath.includes(name)),
  }
  return {
    operationId: row.name,
    summary: row.about,
    description: describe(row),
    parameters: [
      ...inPath.map((name) => ({ name, in: 'path', required: true, schema: schemaOf(fields[name]) })),
      ...(inQuery ? others : []).map(([name, field]) => ({
        name,
        in: 'query',
        required: required.includes(name),
        schema: toJsonSchema(field),
      })),
    ],
    ...(inQuery ? {} : { requestBody: { content: json(toJsonSchema(body)) } }),
    responses: responsesOf(row),
  }
}

function describe({ kind, name, role }: Method): string {
  const common = `Needs the role ${role}. Over WebSocket: \`${name}\`.`
  if (kind === 'call') return common
  return (
    `${common} Server-sent events: \`Last-Event-ID\` or \`cursor\` resumes the stream. ` +
    `\`POST /v1/call/${name}\` returns one page as JSON.`
  )
}

function responsesOf(row: Method): unknown {
  if (row.kind === 'call') return responses(json(toJsonSchema(row.result)), row.rest.status)
  return responses({ 'text/event-stream': { schema: toJsonSchema(row.item) } })
}

function schemaOf(field: Schema | undefined): Json {
  return field === undefined ? {} : toJsonSchema(field)
}

function json(schema: unknown): unknown {
  return { 'application/json': { schema } }
}

function responses(content: unknown, status?: number): unknown {
  return {
    [status === 201 ? 201 : 200]: { description: 'Success.', content },
    ...(status === 204 ? { 204: { description: 'Nothing to do.' } } : {}),
    default: { description: 'Error.', content: json({ $ref: '#/components/schemas/Error' }) },
  }
}

const errorSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'details'],
      properties: {
        code: { type: 'string', description: 'The code of the original gateway.' },
        message: { type: 'string' },
        details: {
          type: 'object',
          required: ['code', 'hint'],
          properties: {
            code: { type: 'string', description: 'See docs/errors.md.' },
            hint: { type: 'string' },
            at: { type: 'string' },
          },
        },
        retryable: { type: 'boolean' },
        retryAfterMs: { type: 'number' },
      },
    },
  },
}

/** The routes that are not methods. */
const fixedPaths = {
  '/v1/dispatch': {
    post: {
      operationId: 'dispatch',
      summary: 'Sends an event through the hooks and returns the decision.',
      requestBody: {
        required: true,
        content: json({
          type: 'object',
          required: ['event'],
          additionalProperties: false,
          properties: {
            event: { type: 'string' },
            payload: {},
            envelope: { type: 'object' },
            trace: { type: 'boolean', description: 'Return the full trace too.' },
            idempotency_key: { type: 'string', minLength: 1, maxLength: 256 },
          },
        }),
      },
      responses: responses(
        json({
          type: 'object',
          required: ['event_id', 'decision'],
          properties: { event_id: { type: 'string' }, decision: { type: 'object' } },
        }),
      ),
    },
  },
  '/v1/agents/{agent}/{event}': {
    post: {
      operationId: 'agents.ask',
      summary: 'Accepts an event in the native format of a coding agent and replies in that format.',
      parameters: ['agent', 'event'].map((name) => ({
        name,
        in: 'path',
        required: true,
        schema: { type: 'string' },
      })),
      requestBody: { required: true, content: json({ type: 'object' }) },
      responses: responses(json({ type: 'object' })),
    },
  },
  '/healthz': {
    get: {
      operationId: 'healthz',
      summary: 'Whether the gateway is ready.',
      security: [],
      responses: { 200: { description: 'Ready.' }, 503: { description: 'Not ready.' } },
    },
  },
}
