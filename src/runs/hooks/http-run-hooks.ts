import { errorText, HookError, isHookError } from '../../engine/core/errors/error.ts'
import type { Handler, HandlerCall } from '../../engine/core/handler.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { changeKeyOf, createRunHookInput } from '../../handlers/run-hook-input.ts'
import type { RunParts } from '../run-parts.ts'
import { problemOfChange } from './hook-change.ts'
import type { RunHookReport } from './run-hook-reports.ts'

export type HttpRunHookParts = Pick<RunParts, 'store' | 'edition' | 'reports'>

/** The http handler, with the events of its run hooks in the sessions of their runs. `parts` is read at each call. */
export function reportHttpRunHooks(handler: Handler, parts: () => HttpRunHookParts): Handler {
  return {
    ...handler,
    run: (call) => (isRunHook(call) ? runReported(handler, call, parts()) : handler.run(call)),
  }
}

function isRunHook({ config, context }: HandlerCall<unknown>): boolean {
  return isRecord(config) && config.format === 'run_hook' && context.envelope.run !== undefined
}

async function runReported(
  handler: Handler,
  call: HandlerCall<unknown>,
  parts: HttpRunHookParts,
): Promise<unknown> {
  const { payload, context, hook } = call
  const { tenant = '', run } = context.envelope
  const input = createRunHookInput(payload, context)
  const report = await parts.reports.open({
    ...{ tenant, event: context.event, run_id: run, hook_id: hook.id, input, event_id: context.id },
  })
  await report.started()
  try {
    const result = await handler.run(call)
    await reportResult(parts, report, { result, event: context.event, input })
    return result
  } catch (thrown) {
    const isTimeout = isHookError(thrown) && thrown.code === 'outbound.timeout'
    await report.failed({ error: errorText(thrown), isTimeout })
    throw thrown
  }
}

async function reportResult(
  parts: HttpRunHookParts,
  report: RunHookReport,
  {
    result,
    event,
    input,
  }: { readonly result: unknown; readonly event: string; readonly input: Readonly<Record<string, unknown>> },
): Promise<void> {
  const { kind, reason, input: after } = isRecord(result) ? result : {}
  if (kind === 'block') return report.blocked(typeof reason === 'string' ? reason : 'No reason provided')
  if (!isRecord(after)) return report.continued(undefined)
  const { run, point } = report
  if (run !== undefined && point !== undefined) {
    const problem = await problemOfChange(parts, { run, point }, after)
    if (problem !== undefined) throw new HookError('handler.result', `the hook ${problem}`)
  }
  const key = point === 'on_tool_call' ? 'tool_input' : (changeKeyOf(event) ?? '')
  return report.continued({ before: input[key], after })
}
