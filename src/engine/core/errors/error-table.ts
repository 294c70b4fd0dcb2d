import type { HandlerCode } from './handler-errors.ts'
import type { ServerCode } from './server-errors.ts'

/**
 * Every error code that the library raises, with its hint. The comment above a code explains it. `docs/errors.md` is
 * generated from both; programs that embed the library contain only the hints.
 */
export const errorTable = {
  /** The event name is neither in the catalogue nor an alias of one that is. */
  'input.unknown_event': 'Check the spelling; see `docs/events.md`.',
  /** The payload does not have the shape its event requires. */
  'input.schema': 'The message names the path.',
  /** Reading the payload threw, so it can be neither checked nor frozen. */
  'input.unreadable': 'Pass plain data.',
  /** The payload is nested too deeply: more than 64 levels in JSON text, or 256 in a value passed in process. */
  'input.too_deep': 'Pass the deep part as text.',
  /** The text is larger than allowed. */
  'input.too_large': 'Send less, or raise the limit.',
  /** An event row given to `defineEvent` or `createHooks` contradicts itself or a built-in event. */
  'config.event': 'The message names the property.',
  /** A hook definition has a field that does not exist or has the wrong type. */
  'config.field': 'The nearest field name is in the message.',
  /** A number in a hook definition is outside its range. */
  'config.range': 'The message names the field and the range.',
  /** Two hooks have the same id. */
  'config.duplicate_id': 'Leave `id` out, or remove the first hook.',
  /** No handler is installed for the `handler_type` of a hook. */
  'config.unknown_handler': 'Pass the handler to `createHooks({ handlers: [...] })`.',
  /**
   * The address of a hook cannot be called: it is not http or https, has no host, or contains a user name and
   * password.
   */
  'config.url': 'Write `https://host/path`; credentials belong in `headers`.',
  /** A hook looks at what a shell command does, and the set of hooks has no analyser of shell commands. */
  'config.no_shell': 'Pass `createHooks({ shell: analyzeShell })` from `@hookhelm/core/shell`.',
  /** A part of the library that is loaded later is not beside it, because a bundler put the library into one file. */
  'config.bundled': 'Keep hookhelm out of the bundle (`external`).',
  /** A hook id names no registered hook. */
  'config.unknown_hook': '`hooks.list()` shows the ids.',

  /** A name pattern is not a valid RE2 regular expression. */
  'match.syntax': 'The message has the position.',
  /** A pattern uses look-around or a back-reference, which RE2 does not have. */
  'match.unsupported': 'Use an `if_expr`.',
  /** A matcher could be a regular expression or a `Tool(pattern)`, and the two would differ. */
  'match.ambiguous': 'Start a regular expression with ^, or use `match.names`.',
  /** An `if_expr` is not valid CEL. */
  'match.cel_syntax': 'The message has line and column.',
  /**
   * An `if_expr` cannot be a condition: its result is not true or false, or it uses an unknown variable or
   * function.
   */
  'match.cel_type': 'Compare something: `size(prompt) > 80`; see `docs/matchers.md`.',
  /** A matcher is longer, deeper or more nested than allowed. */
  'match.too_complex': 'Split it, or decide in the handler.',
  /** A shell line has a part that cannot be known before it runs and may be what the hook looks for. */
  'match.opaque': 'See `hookhelm shell "<line>"`; `opaque` of the hook decides.',
  /** A shell line is larger than the analyser reads, so that no match is not certain. */
  'match.shell_limit': 'Split the line.',
  /** An `if_expr` failed while it was evaluated: a missing key, a wrong type, a cost limit. */
  'match.cel_eval': 'Guard optional keys with `has(tool_input.key)`.',

  /** A handler threw or rejected. */
  'handler.error': 'The trace has the error.',
  /** A handler did not answer before its deadline. */
  'handler.timeout': 'Raise `timeout_ms`, or set `on_timeout: allow`.',
  /** A handler returned something that its event cannot read. */
  'handler.result': 'Return nothing, or allow() ask() block() rewrite() addContext().',
  /** A synchronous event has an async hook, or a hook that returned a promise. */
  'handler.must_be_sync': 'Return the value, not a promise.',

  /** Too many dispatches caused one another. */
  'guard.depth': 'A hook may start what it listens to; else raise `maxDepth`.',
  /** The hook fired recently; its cooldown is running. */
  'guard.cooldown': 'Lower `cooldown_ms`.',
  /** The hook already fired for an identical event within its window. */
  'guard.dedup': 'Lower `dedup_window_ms`.',
  /** The hook applied for a time only, and that time is over. */
  'guard.expired': 'Move `expires_at`, or delete the hook.',
  /** The hook reached its number of invocations for this turn. */
  'guard.quota': 'Raise `max_invocations_per_turn`.',
  /** The budget of this hook is spent. */
  'guard.budget': 'Raise the budget, or wait.',
  /** The hook failed too often in a row and was switched off. */
  'guard.breaker': 'Fix the cause, then switch it on again.',
  /** The event was blocked too many times in a row for this session, so this block was not applied. */
  'guard.streak': 'Read the reason of the hook.',
  /** The store behind a guard could not answer. */
  'guard.state': 'Check the store connection.',

  /** The hooks of one dispatch together used up its time budget. */
  'engine.budget': 'Shorten the chain, or the timeouts of its hooks.',
  /** The caller aborted the dispatch. */
  'engine.aborted': 'An aborted gate blocks.',
  /** A hook that must see the final input tried to change it again. */
  'engine.unstable_rewrite': 'Make the rewrite idempotent, or let only one hook rewrite.',
  /** A hook returned a block on an event that cannot block. */
  'engine.block_ignored': 'Listen to an event that can block.',
  /** A hook of another folder than the agent's own wanted to change or permit a call. */
  'engine.other_folder': 'Work in that folder, or put the hook into the file of the user.',
  /** A handler answered after its deadline; the answer was dropped. */
  'engine.late': 'Raise `timeout_ms`.',
  /** `dispatchSync` was called for an event that may wait. */
  'engine.not_sync': 'Use `await hooks.dispatch(...)`.',
  /** A handler has blocked the event loop for more than a second. */
  'engine.stalled': 'Use a command or script hook.',
} as const satisfies Record<string, string>

/** The codes of this table. */
export type EngineCode = keyof typeof errorTable
/** Every error code, including those of handlers, hook files and servers. */
export type ErrorCode = EngineCode | HandlerCode | ServerCode

/** Whether a value is a code of this table. */
export function isErrorCode(value: unknown): value is EngineCode {
  return typeof value === 'string' && Object.hasOwn(errorTable, value)
}
