import type { FieldsOf, PayloadOf } from '../../engine/core/event.ts'
import type { InputGateDecision } from '../../engine/events/openclaw/gate-decision.ts'
import type { ReplyCounts } from '../../engine/events/openclaw/message.ts'
import type { Address } from '../../engine/events/openclaw/message-parts.ts'
import type { openclawRows } from '../../engine/events/openclaw/rows.ts'

type Rows = typeof openclawRows
/** The name of a hook that plugins can register: `before_tool_call`. */
export type PluginHookName = keyof Rows

/** The names of the hooks whose rows match: `NamesOf<{ mode: 'claim' }>`. */
type NamesOf<Part> = { [K in PluginHookName]: Rows[K] extends Part ? K : never }[PluginHookName]
export type ObserveName = NamesOf<{ readonly mode: 'observe' }>
type ClaimName = NamesOf<{ readonly mode: 'claim' }>
/** Listed here because `sync` is a plain boolean in the type of every row. */
export type SyncName = 'tool_result_persist' | 'before_message_write'

/** Rows are read-only, but OpenClaw's handlers get the host's own objects and may change them. */
type Open<V> = V extends readonly (infer E)[] ? E[] : string extends keyof V ? Record<string, V[string]> : V
export type PluginHookEventOf<K extends PluginHookName> = OpenPayload<PayloadOf<Rows[K]>>
type OpenPayload<P> = { -readonly [Key in keyof P]: Open<P[Key]> }
type OpenFields<F> = { -readonly [Key in keyof F]?: Open<F[Key]> | undefined }

/** Results that are more than a list of optional fields. */
interface OwnResults {
  before_agent_run: InputGateDecision
  reply_dispatch: { handled: boolean; queuedFinal: boolean; counts: ReplyCounts }
  subagent_spawning:
    | { status: 'ok'; threadBindingReady?: boolean | undefined; deliveryOrigin?: Address | undefined }
    | { status: 'error'; error: string }
}

export type PluginHookResultOf<K extends PluginHookName> = K extends keyof OwnResults
  ? OwnResults[K]
  : K extends ClaimName
    ? { handled: boolean } & OpenFields<FieldsOf<Rows[K]>>
    : OpenFields<FieldsOf<Rows[K]>>
