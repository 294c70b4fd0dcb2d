import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { type GatewayOptions, openGateway, type RunningGateway } from '../../src/app/gateway/open-gateway.ts'
import type { Log } from '../../src/engine/core/records/sink.ts'

/** A guard against waiting for ever; it measures nothing. */
const HANG_MS = 60_000

export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: whatever the route answers, for tests to look into
  readonly body: any
  readonly headers: Headers
}

export interface Running extends RunningGateway {
  readonly home: string
  readonly logged: { readonly name: string; readonly fields: Readonly<Record<string, unknown>> }[]
  call(
    verb: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>
  dispatch(event: string, payload: unknown, more?: Readonly<Record<string, unknown>>): Promise<Answer>
  /** Makes a hook and answers its id. */
  hook(definition: Readonly<Record<string, unknown>>): Promise<string>
  /** Waits until a question about the gateway has the answer that is hoped for. */
  until<T>(ask: () => Promise<T>, isRight: (answer: T) => boolean): Promise<T>
  /** Closes it, and takes its folder away if it was its own. */
  end(): Promise<void>
}

type Options = GatewayOptions & { readonly home?: string }

/** A gateway of its own in a folder of its own, gone when the test is over. */
export async function running(options: Options = {}): Promise<Running> {
  const gateway = await opened(options)
  onTestFinished(() => gateway.end())
  return gateway
}

/** One gateway for all tests of a file. */
export function shared(options: () => Options | Promise<Options> = () => ({})): () => Running {
  let gateway: Running | undefined
  beforeAll(async () => {
    gateway = await opened(await options())
  })
  afterAll(() => gateway?.end())
  return () => {
    if (gateway === undefined) throw new Error('the gateway is not open yet')
    return gateway
  }
}

async function opened(options: Options): Promise<Running> {
  const home = options.home ?? mkdtempSync(join(tmpdir(), 'hookhelm-gateway-'))
  const logged: Running['logged'] = []
  const log: Log = (name, fields) => void logged.push({ name, fields })
  const gateway = await openGateway({
    listen: { host: '127.0.0.1', port: 0 },
    log,
    ...options,
    env: { PATH: process.env.PATH, HOME: home, ...options.env, HOOKHELM_HOME: home },
  })
  const call: Running['call'] = async (verb, path, body, headers = {}) => {
    const response = await fetch(`${gateway.url}${path}`, {
      method: verb,
      headers: {
        authorization: `Bearer ${gateway.token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await textOf(response)
    return { status: response.status, body: parsed(text), headers: response.headers }
  }
  return {
    ...gateway,
    home,
    logged,
    call,
    dispatch: (event, payload, more = {}) => call('POST', '/v1/dispatch', { event, payload, ...more }),
    async hook(definition) {
      const { status, body } = await call('POST', '/v1/hooks', { scope: 'tenant', ...definition })
      if (status !== 200) throw new Error(JSON.stringify(body))
      return body.hookId
    },
    async until(ask, isRight) {
      const end = performance.now() + HANG_MS
      while (performance.now() < end) {
        const answer = await ask()
        if (isRight(answer)) return answer
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      throw new Error('it did not happen')
    },
    async end() {
      await gateway.close()
      if (options.home === undefined) rmSync(home, { recursive: true, force: true })
    },
  }
}

/** The whole body; of an event stream, which never ends, the first chunk. */
async function textOf(response: Response): Promise<string> {
  if (response.headers.get('content-type') !== 'text/event-stream') return response.text()
  const reader = response.body?.getReader()
  const first = await reader?.read()
  await reader?.cancel()
  return Buffer.from(first?.value ?? []).toString()
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
