import type { ServerCode } from './server-errors.ts'

/**
 * Every code that can be raised without a server, and what to do about it. What a code means stands in the comment above it: `docs/errors.md`
 * is generated from both, and programs that embed the library carry only the hints.
 */
export const errorTable = {
  /** The event name is neither in the catalogue nor an alias of one that is. */
  'input.unknown_event': 'Check the spelling; `docs/events.md` lists every name and alias.',
  /** The payload does not have the shape its event requires. */
  'input.schema': 'The message names the path and what was expected there.',
  /** Reading the payload threw, so it can be neither checked nor frozen. */
  'input.unreadable': 'Pass plain data: no throwing getters, no proxies that refuse to be read.',
  /** The payload is nested too deeply: more than 64 levels in JSON text, or 256 in a value passed in process. */
  'input.too_deep': 'Flatten the payload or pass the deep part as text.',
  /** There is no JSON at all, only blanks. */
  'input.empty': 'Send one JSON value.',
  /** The text is not JSON. */
  'input.json': 'The message carries line and column.',
  /** The bytes are not UTF-8. */
  'input.utf8': 'Encode the text as UTF-8.',
  /** The text is larger than allowed. */
  'input.too_large': 'Send less, or raise the limit where the text is read.',
  /** The objects of the text have more keys together than allowed. */
  'input.too_many_keys': 'Send less, or pass the large part as text.',
  /** A key could reach the prototype of an object: `__proto__`, or `prototype` below `constructor`. */
  'input.forbidden_key': 'Rename the key.',
  /** An object names one key twice, so that two readers could read two things. */
  'input.duplicate_key': 'Name every key once.',

  /** A file that would be written is there already. */
  'config.exists': 'Move it away first, or choose another name.',
  /** An event row given to `defineEvent` or `createHooks` contradicts itself or a built-in event. */
  'config.event': 'The message names the property; built-in events cannot be replaced.',
  /** A hook definition has a field that does not exist or has the wrong type. */
  'config.field': 'The nearest field name is in the message.',
  /** A number in a hook definition lies outside its range. */
  'config.range': 'The message names the field and the range.',
  /** Two hooks carry the same id. */
  'config.duplicate_id': 'Leave `id` out to get a fresh one, or undo the first registration.',
  /** No handler is installed for the `handler_type` of a hook. */
  'config.unknown_handler': 'Pass the handler to `createHooks({ handlers: [...] })`.',
  /**
   * The address of a hook is not one that may be called: not http or https, no host, or with a name and password
   * inside.
   */
  'config.url': 'Write `https://host/path`; credentials belong into `headers`.',
  /** A hook id names no registered hook. */
  'config.unknown_hook': '`hooks.list()` shows the ids.',
  /** A hook file is neither YAML nor JSON, is nested too deeply, or names one key twice. */
  'config.syntax': 'The place is in the message; an editor that knows the file format underlines it.',
  /** A hook file cannot be read: gone, no ordinary file, larger than 1 MiB, or not UTF-8. */
  'config.unreadable': 'To have no hooks, write `hooks: []` instead of removing the file.',
  /** A hook file, or the folder it lies in, belongs to somebody else or can be written by others. */
  'config.untrusted_owner':
    'Make it yours and run `chmod o-w` on file and folder; a managed file must not be writable by a group.',
  /** One folder holds several hook files, for example hooks.yaml and hooks.json. */
  'config.two_files': 'Keep one of them.',
  /** A prompt hook has no condition, so a model would be asked about every event. */
  'config.prompt_needs_matcher': 'Give it a `matcher`, a `match` or an `if_expr`.',

  /** A name pattern is not a valid RE2 regular expression. */
  'match.syntax': 'The message carries the position and what RE2 objected to.',
  /** A pattern uses look-around or a back-reference, which RE2 does not have. */
  'match.unsupported': 'Rewrite the pattern, or test the input in an `if_expr`.',
  /** A matcher could be a regular expression or a `Tool(pattern)`, and the two would differ. */
  'match.ambiguous': 'Anchor it with ^ to mean a regular expression, or use one `Tool(pattern)` per hook.',
  /** An `if_expr` is not valid CEL. */
  'match.cel_syntax': 'The message carries line and column.',
  /**
   * An `if_expr` cannot be a condition: it does not answer true or false, or names an unknown variable or
   * function.
   */
  'match.cel_type':
    'Compare something, for example `size(tool_input.command) > 80`; `docs/matchers.md` lists the variables.',
  /** A matcher is longer, deeper or more nested than allowed. */
  'match.too_complex': 'Split it into several hooks or move the logic into the handler.',
  /** An `if_expr` failed while it was evaluated: a missing key, a wrong type, a cost limit. */
  'match.cel_eval': 'Guard optional keys with `has(tool_input.key)`.',

  /** A handler threw or rejected. */
  'handler.error': 'The reason names the hook; the trace carries the error.',
  /** A handler did not answer before its deadline. */
  'handler.timeout': 'Raise `timeout_ms`, make the handler faster, or set `on_timeout: allow`.',
  /** A handler answered something its event cannot read. */
  'handler.result': 'Return nothing, or one of allow() ask() block() rewrite() addContext().',
  /** An async function was registered on, or a promise returned from, a synchronous event. */
  'handler.must_be_sync': 'Return the value itself; synchronous events cannot wait.',
  /** This edition does not run hooks of this handler type. */
  'handler.not_in_edition':
    'Several tenants share one machine, so nobody may start commands on it: use an http, prompt or script hook.',

  /** The address is a private, local or special one, or that of this gateway itself. */
  'outbound.private_address': 'Use a public host, or name the inner one in the outbound allow-list.',
  /** The host name could not be resolved. */
  'outbound.dns': 'Check the name and the resolver.',
  /** The connection could not be made, or broke before the answer was complete. */
  'outbound.connection': 'Check that the receiver is up and speaks HTTP.',
  /** The receiver could not prove who it is, or TLS failed. */
  'outbound.tls': 'Mend its certificate, or give its authority in `ca`.',
  /** The receiver did not answer before the deadline. */
  'outbound.timeout': 'Raise `timeout_ms`, make the receiver faster, or set `on_timeout: allow`.',
  /** The receiver answered with a redirect; those are never followed. */
  'outbound.redirect': 'Configure the final address.',
  /** The receiver answered with a status that is no success. */
  'outbound.status': 'The message carries the status; 5xx is tried once more, 4xx is not.',
  /** The answer is larger than allowed, counted after decompression. */
  'outbound.too_large': 'Answer less.',
  /** The content encoding of the answer is unknown, or its data is broken. */
  'outbound.decode': 'Answer without compression.',

  /** Something is encrypted, or should be, and no key was given. */
  'secret.no_key': 'Give the key that it was encrypted with.',
  /** An encryption key is malformed, has a bad id, or was used too often. */
  'secret.key': 'A key is 64 hex digits, 44 base64 characters or 32 bytes; rotate one that is worn.',
  /** An encrypted value cannot be decrypted: wrong or unknown key, moved to another place, or damaged. */
  'secret.unreadable': 'Keep the old key in the keyring until every value has been encrypted again.',

  /**
   * The system refused to start a command: it does not exist, may not be executed, or its arguments are too
   * long.
   */
  'process.start':
    'Check the path and its permissions; large payloads belong on stdin, not into `$ARGUMENTS`.',
  /** The directory a command should run in does not exist, or lies outside of the workspace. */
  'process.cwd': 'Mend `cwd`; links are followed before the check.',
  /** A command ended with an exit code that is neither 0 (read its output) nor 2 (block). */
  'process.exit': 'The message carries the code and the end of stderr.',
  /** A command was ended by a signal before it answered. */
  'process.signal': 'The message names the signal; look for a crash or the memory limit.',
  /** A command did not end before its deadline; it and everything it started were killed. */
  'process.timeout': 'Raise `timeout_ms`, make the command faster, or keep it running with `worker: true`.',
  /** A command wrote more than 1 MiB and was killed. */
  'process.output_limit': 'Write logs to a file; stdout is for the answer.',
  /** A command with `worker: true` broke the agreement of one JSON line in, one JSON line out. */
  'process.worker':
    'Answer each line with one JSON object, with the `id` of its event or in order; write logs to stderr.',

  /** The chain of dispatches that caused one another is too long. */
  'guard.depth': 'Look for a hook that starts the work it listens to, or raise `maxDepth`.',
  /** The hook fired recently and is cooling down. */
  'guard.cooldown': 'Lower `cooldown_ms` if it should fire more often.',
  /** The hook already fired for an identical event within its window. */
  'guard.dedup': 'Lower `dedup_window_ms` if repeats should be handled.',
  /** The hook reached its number of invocations for this turn. */
  'guard.quota': 'Raise `max_invocations_per_turn` or tighten the matcher.',
  /** Nothing is left of the budget this hook draws on. */
  'guard.budget': 'Raise the budget or wait for the next period.',
  /** The hook failed too often in a row and was switched off. */
  'guard.breaker': 'Mend the cause, then switch it on again.',
  /** The event was blocked too many times in a row for this session, so this block was not applied. */
  'guard.streak': 'A hook keeps the agent from stopping; look at its reason.',
  /** The store behind a guard could not answer. */
  'guard.state': 'The hook followed its `on_error` policy; look at the store.',

  /** The source of a script hook is not valid JavaScript. */
  'script.compile': 'The message names the line.',
  /** A script hook threw, answered no decision, or its sandbox broke. */
  'script.error': 'Return { decision: "allow" | "block" | "ask", reason } from handle(event).',
  /** A script hook ran longer than its deadline and was ended. */
  'script.timeout': 'Make the script do less; a script should decide in milliseconds.',

  /** The model that should judge did not call `decide`, or called it with something that is no decision. */
  'prompt.parse': 'Keep `prompt_template` short and imperative, or use a model that follows tool calls.',
  /** The model that should judge did not answer before the deadline. */
  'prompt.timeout': 'Raise `timeout_ms`, use a faster model, or set `on_timeout: allow`.',
  /** The provider of the model failed or could not be reached. */
  'prompt.provider':
    'The message carries the status; check the address, the key and the limits of the account.',
  /** Nobody is configured who serves the model that a hook names. */
  'prompt.model': 'Configure the provider, or a default model.',
  /** Nothing is left of the token budget of the tenant for this month, or nobody could say what is left. */
  'prompt.budget': 'Raise the budget, or wait for the first day of the next month (UTC).',

  /** A hook should start an agent, but the program lends no agent launcher. */
  'agent.no_host': 'Pass `host: { startAgent }` to `createHooks`.',
  /** A hook names an agent that the host does not know, or none at all. */
  'agent.unknown': 'Check `agent_name`, or give the hook a `prompt` of its own.',
  /** The agent that a hook started ended without an answer. */
  'agent.failed': 'The message says how it ended.',
  /** The agent that a hook started did not answer before the deadline; it was told to stop. */
  'agent.timeout': 'Raise `timeout_ms`, or set `on_timeout: allow`.',
  /** The JSON Schema of an agent hook cannot be used: not valid, too large, or with a pattern RE2 does not have. */
  'agent.schema': 'The message says what is wrong; patterns have no look-around and no back-references.',
  /** The agent answered something that does not fit its `output_schema`, or that is no decision. */
  'agent.output_schema':
    'Answer { "action": "continue" | "block", ... }, { "ok": true | false, ... } or { "kind": ... }.',

  /** The hooks of one dispatch together used up its time budget. */
  'engine.budget': 'Shorten the chain, or the timeouts of its hooks.',
  /** The caller aborted the dispatch. */
  'engine.aborted': 'Nothing to mend; a gate answers block when it is aborted.',
  /** A hook that must see the final input tried to change it again. */
  'engine.unstable_rewrite': 'Make the rewriting hook idempotent, or let only one hook rewrite this input.',
  /** A hook returned a block on an event that cannot block. */
  'engine.block_ignored': 'Listen to an event that can block, such as pre_tool_use.',
  /** A handler answered after its deadline; the answer was dropped. */
  'engine.late': 'Raise `timeout_ms` if the answer matters.',
  /** `dispatchSync` was called for an event that may wait. */
  'engine.not_sync': 'Use `await hooks.dispatch(...)`.',
  /** A handler has kept the event loop busy for more than a second. */
  'engine.stalled':
    'A synchronous loop cannot be stopped in process; run such code as a command or script hook.',

  /** A hook file changed into one that cannot be used, so the hooks it had before stay. */
  'reload.kept_previous': 'Mend the file; it is looked at again as soon as it changes.',

  /** A hook file came with a repository, or changed there, and nobody has trusted this content yet. */
  'trust.needed': 'Read the difference and run `hookhelm trust`.',
  /** The store of trusted hook files cannot be used, so no repository counts as trusted. */
  'trust.store': 'It must be a file of your own that only you can write; remove it to start afresh.',
} as const satisfies Record<string, string>

export type EngineCode = keyof typeof errorTable
export type ErrorCode = EngineCode | ServerCode

export function isErrorCode(value: unknown): value is EngineCode {
  return typeof value === 'string' && Object.hasOwn(errorTable, value)
}
