import { tellingArgument } from '../../agents/translate/telling-argument.ts'
import { DOCTOR_SESSION_PREFIX } from '../../engine/core/context.ts'
import { type Decision, stricter } from '../../engine/core/decision.ts'
import type { DispatchRecord } from '../../engine/core/records/sink.ts'
import type { Trace } from '../../engine/core/records/trace.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { splitToolNames } from '../../engine/match/tool-names.ts'
import type { RecordedSummary } from '../view-tables.ts'

/** More than the store reads of a text. */
const MAX_TEXT = 16_384

/** What lists show of a dispatch. The store redacts it when it writes the rows, which delays no answer. */
export function summarizeDispatch(
  { event, payload, envelope, decision }: Pick<DispatchRecord, 'event' | 'payload' | 'envelope' | 'decision'>,
  trace: Pick<Trace, 'hooks'>,
): RecordedSummary {
  const { reason, message, steps } = decision
  const { cwd, lane, session, agent = envelope.host } = envelope
  const fields = isRecord(payload) ? payload : {}
  const nameOf = (hook: string) => trace.hooks.find((each) => each.hook === hook)?.name
  const by = decision.by ?? steps?.at(-1)?.hook
  // Prompts of sub-agents are written by the main agent.
  const isPrompt = event === 'user_prompt_submit' && lane === undefined
  return {
    ...textField('agent', agent),
    ...textField('folder', cwd),
    ...textField('lane', lane),
    ...textField('tool', toolName(fields.tool_name)),
    ...textField('what', tellingArgument(event, fields)),
    ...(decision.input === undefined ? {} : { rewritten: true }),
    ...textField(
      'opened',
      describeOpened(decision, (hook) => nameOf(hook) ?? hook),
    ),
    ...countHooks(decision, trace),
    ...textField('by_hook', by),
    ...textField('hook_name', by === undefined ? undefined : nameOf(by)),
    ...textField('reason', reason ?? message),
    ...(session?.startsWith(DOCTOR_SESSION_PREFIX) === true ? { probe: true } : {}),
    ...(isPrompt ? textField('prompt', fields.prompt) : {}),
  }
}

type TextField =
  | 'agent'
  | 'folder'
  | 'lane'
  | 'tool'
  | 'what'
  | 'opened'
  | 'by_hook'
  | 'hook_name'
  | 'reason'
  | 'prompt'

function textField(name: TextField, text: unknown): Pick<RecordedSummary, TextField> {
  return typeof text === 'string' && text !== '' ? { [name]: text.slice(0, MAX_TEXT) } : {}
}

/** The first name; others are those that the agent itself uses for the tool. */
function toolName(name: unknown): string | undefined {
  return typeof name === 'string' ? splitToolNames(name)[0] : undefined
}

/** Which policies let the event pass: of failed hooks, or of a client that decided without the gateway. */
function describeOpened(
  { kind, code, reason, opened = [] }: Decision,
  nameOf: (hook: string) => string,
): string | undefined {
  if (opened.length > 0)
    return opened
      .map(({ hook, because, code }) => `on_${because}: allow of ${nameOf(hook)} (${code})`)
      .join('; ')
  return kind === 'allow' && code !== undefined ? (reason ?? code) : undefined
}

function countHooks(
  { kind }: Decision,
  { hooks }: Pick<Trace, 'hooks'>,
): Pick<RecordedSummary, 'failed' | 'shadow'> {
  let failed = 0
  let shadow = 0
  for (const { executions } of hooks) {
    const last = executions.at(-1)
    if (last === undefined) continue
    if (last.shadow === true) shadow += isStricter(last.decision, kind) ? 1 : 0
    else if (last.decision === 'error' || last.decision === 'timeout') failed++
  }
  return { ...(failed === 0 ? {} : { failed }), ...(shadow === 0 ? {} : { shadow }) }
}

function isStricter(own: string, kind: Decision['kind']): boolean {
  return (own === 'ask' || own === 'block') && stricter({ kind }, { kind: own }).kind !== kind
}
