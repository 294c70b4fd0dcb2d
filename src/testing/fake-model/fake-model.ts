import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { isRecord } from '../../engine/core/schema/check.ts'
import { after } from '../../engine/core/time/after.ts'
import { systemClock } from '../../engine/core/time/clock.ts'
import type { FakeAnswer } from './fake-answer.ts'
import { type FakeProvider, type ModelRequest, type WireFormat, wireFormats } from './wire-formats.ts'

/** One request that the fake model received. */
export interface FakeRequest extends ModelRequest {
  readonly provider: FakeProvider
  readonly headers: IncomingHttpHeaders
  readonly body: Readonly<Record<string, unknown>>
  /** The raw body. */
  readonly text: string
  /** Settles when the connection ends: `dropped` if the client gave up first. */
  readonly ended: Promise<'answered' | 'dropped'>
}

/** A running fake model. */
export interface FakeModel {
  /** The base URL for a client of that provider. */
  url(provider: FakeProvider): string
  readonly requests: readonly FakeRequest[]
  /** Closes the server and all its connections. */
  close(): Promise<void>
}

/** Options of `startFakeModel`. */
export interface FakeModelOptions {
  /** Answers in the order of requests, the last one repeated; or a function of the request. */
  readonly script: readonly FakeAnswer[] | ((request: FakeRequest) => FakeAnswer)
}

const bases: Readonly<Record<FakeProvider, string>> = {
  anthropic: '/anthropic/v1',
  openai: '/openai/v1',
  google: '/google/v1beta',
  'openai-compatible': '/openai-compatible/v1',
}

/**
 * Starts an HTTP server on the loopback interface that answers in the wire formats of the model providers, as scripted.
 *
 * @example
 * const model = await startFakeModel({ script: [{ text: 'yes' }] })
 * const url = model.url('anthropic')
 */
export async function startFakeModel({ script }: FakeModelOptions): Promise<FakeModel> {
  const requests: FakeRequest[] = []
  const server = createServer(async (incoming, response) => {
    const path = (incoming.url ?? '').replace(/\?.*$/, '')
    const wire = wireFormats.find((each) => each.path.test(path))
    const provider = providerOf(path)
    const text = await readText(incoming)
    const body = parsed(text)
    if (wire === undefined || provider === undefined || body === undefined) return send(response, 404, '{}')
    const asked = wire.read(body, path)
    const request = { ...asked, provider, headers: incoming.headers, body, text, ended: endOf(response) }
    requests.push(request)
    answerWith(response, wire, next(script, request, requests.length), asked.model)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = isRecord(address) ? address.port : ''
  return {
    url: (provider) => `http://127.0.0.1:${port}${bases[provider]}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function next(script: FakeModelOptions['script'], request: FakeRequest, count: number): FakeAnswer {
  if (typeof script === 'function') return script(request)
  return script[Math.min(count, script.length) - 1] ?? {}
}

function answerWith(response: ServerResponse, wire: WireFormat, answer: FakeAnswer, model: string): void {
  if (answer.hang) return
  const { status = 200, afterMs } = answer
  const reply = () => {
    const body = status === 200 ? wire.reply(answer, model) : wire.refuse(status)
    send(response, status, answer.body ?? JSON.stringify(body))
  }
  if (afterMs === undefined) reply()
  else after(systemClock, afterMs, reply)
}

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(body)
}

function providerOf(path: string): FakeProvider | undefined {
  const providers = ['anthropic', 'openai', 'google', 'openai-compatible'] as const
  return providers.find((provider) => path.startsWith(`${bases[provider]}/`))
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const body: unknown = JSON.parse(text)
    return isRecord(body) ? body : undefined
  } catch {
    return undefined
  }
}

function endOf(response: ServerResponse): Promise<'answered' | 'dropped'> {
  return new Promise((resolve) => {
    response.once('close', () => resolve(response.writableFinished ? 'answered' : 'dropped'))
  })
}
