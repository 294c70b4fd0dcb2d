/** The engine as a library, which loads nothing that its user does not pass: the door of `@hookhelm/core`. */

export type { Envelope, HookContext } from './engine/core/context.ts'
export {
  addContext,
  allow,
  ask,
  block,
  type Decision,
  rewrite,
  stricter,
  type Verdict,
} from './engine/core/decision.ts'
export { HookError } from './engine/core/errors/error.ts'
export { type ErrorCode, errorTable } from './engine/core/errors/error-table.ts'
export {
  defineEvent,
  type EventRow,
  type EventRows,
  field,
  type Mode,
  type Policy,
} from './engine/core/event.ts'
export type { GuardRequest, GuardState, Pass } from './engine/core/guard-state.ts'
export type { Handler, HandlerCall, Host } from './engine/core/handler.ts'
export type { Match, Outcome, Scope } from './engine/core/hook.ts'
export type {
  AgentAnswer,
  AskReply,
  AskRequest,
  EvaluateReply,
  EvaluateRequest,
  LaunchedAgent,
  NotifyReply,
  NotifyRequest,
  StartAgentRequest,
  WarmReply,
  WarmRequest,
} from './engine/core/host.ts'
export * as merge from './engine/core/merge.ts'
export type { DispatchRecord, Execution, ExecutionDecision, Log, Sink } from './engine/core/records/sink.ts'
export type { Trace, TraceHook } from './engine/core/records/trace.ts'
export type { Check } from './engine/core/schema/check.ts'
export * as check from './engine/core/schema/check.ts'
export type { AnalyzeShell } from './engine/core/shell-effects.ts'
export { type Clock, systemClock } from './engine/core/time/clock.ts'
export type { DispatchOptions } from './engine/dispatch/dispatch-event.ts'
export type { HooksOptions } from './engine/dispatch/hooks.ts'
export { createHooks, type DecisionOf, type HookFunction, type Hooks } from './engine/dispatch/hooks.ts'
export type { Undo } from './engine/dispatch/registry.ts'
export { type Catalogue, catalogue } from './engine/events/catalogue.ts'
export { memoryGuardState } from './engine/guard/memory-state.ts'
export type { HookDefinition, HookOptions } from './engine/hook-definition.ts'
