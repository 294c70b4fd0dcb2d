import { trace } from '@opentelemetry/api'
import { errorText } from '../../engine/core/errors/error.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Exports spans to the collector of the standard OTEL variables. The SDK packages are optional peers. */
export async function startOtlp(env: Environment): Promise<{ stop(): Promise<void> } | undefined> {
  const url = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || tracesAt(env.OTEL_EXPORTER_OTLP_ENDPOINT)
  if (url === undefined) return undefined
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw serverError('gateway.setting', 'OTEL_EXPORTER_OTLP_ENDPOINT is not an http URL', {
      hint: 'Write it as `http://host:4318`, or unset it to export no spans.',
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
  // OpenTelemetry treats an empty variable as unset.
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
    throw serverError(
      'gateway.setting',
      `the OpenTelemetry packages cannot be loaded: ${errorText(thrown)}`,
      {
        hint: 'Run `npm install @opentelemetry/sdk-trace @opentelemetry/exporter-trace-otlp-http` next to hookhelm, or unset OTEL_EXPORTER_OTLP_ENDPOINT.',
      },
    )
  }
}
