import { trace } from '@opentelemetry/api'
import { errorText } from '../../engine/core/error.ts'
import { serverError } from '../../engine/core/server-errors.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Sends spans to the collector that the usual variables name. The packages for that are installed by who wants it. */
export async function startOtlp(env: Environment): Promise<{ stop(): Promise<void> } | undefined> {
  const url = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || tracesAt(env.OTEL_EXPORTER_OTLP_ENDPOINT)
  if (url === undefined) return undefined
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw serverError('gateway.setting', 'the address in OTEL_EXPORTER_OTLP_ENDPOINT cannot be used', {
      hint: 'Write it as `http://host:4318`, or leave it out to send no spans.',
    })
  const { TracerProvider, BatchSpanProcessor, OTLPTraceExporter } = await load()
  const exporter = new OTLPTraceExporter({ url })
  const provider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] })
  trace.setGlobalTracerProvider(provider)
  return {
    async stop() {
      await provider.shutdown()
      trace.disable()
    },
  }
}

function tracesAt(base: string | undefined): string | undefined {
  // By the standard an empty variable is one that is not set.
  return base === undefined || base === '' ? undefined : `${base.replace(/\/$/, '')}/v1/traces`
}

async function load() {
  try {
    const [sdk, otlp] = await Promise.all([
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/exporter-trace-otlp-http'),
    ])
    return { ...sdk, ...otlp }
  } catch (thrown) {
    throw serverError('gateway.setting', `spans cannot be sent: ${errorText(thrown)}`, {
      hint: 'Run `npm install @opentelemetry/sdk-trace @opentelemetry/exporter-trace-otlp-http` beside hookhelm.',
    })
  }
}
