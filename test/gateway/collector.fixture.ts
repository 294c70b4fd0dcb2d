import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Span {
  readonly name: string
  readonly traceId: string
  readonly parentSpanId?: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly status: { readonly code?: number; readonly message?: string }
  readonly attributes: Readonly<Record<string, unknown>>
}

/** A collector of spans, as the exporter of OpenTelemetry sees one. */
export async function collector() {
  const bodies: string[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    if (request.url === '/v1/traces') bodies.push(Buffer.concat(chunks).toString())
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    bodies,
    spans: (): Span[] => bodies.flatMap((body) => spansIn(JSON.parse(body))),
  }
}

interface Exported {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[]
  }[]
}

interface WireSpan extends Omit<Span, 'attributes'> {
  readonly attributes: readonly { readonly key: string; readonly value: object }[]
}

function spansIn({ resourceSpans }: Exported): Span[] {
  const all = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
  return all.map(({ attributes, ...span }) => ({
    ...span,
    attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
  }))
}
