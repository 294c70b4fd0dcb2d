import type { ServerCode } from './server-errors.ts'

/**
 * Every error code that the library raises, with its hint. The comment above a code explains it. `docs/errors.md` is
 * generated from both; programs that embed the library contain only the hints.
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
  /** The text is empty or only white space. */
  'input.empty': 'Send one JSON value.',
  /** The text is not JSON. */
  'input.json': 'The message has line and column.',
  /** The bytes are not UTF-8. */
  'input.utf8': 'Encode the text as UTF-8.',
  /** The text is larger than allowed. */
  'input.too_large': 'Send less, or raise the limit where the text is read.',
  /** The objects of the text have more keys in total than allowed. */
  'input.too_many_keys': 'Send less, or pass the large part as text.',
  /** A key could reach the prototype of an object: `__proto__`, or `prototype` below `constructor`. */
  'input.forbidden_key': 'Rename the key.',
  /** An object has a key twice, so two readers could see different values. */
  'input.duplicate_key': 'Use every key once.',

  /** A file that should be written already exists. */
  'config.exists': 'Move it away, or choose another name.',
  /** An event row given to `defineEvent` or `createHooks` contradicts itself or a built-in event. */
  'config.event': 'The message names the property; built-in events cannot be replaced.',
  /** A hook definition has a field that does not exist or has the wrong type. */
  'config.field': 'The nearest field name is in the message.',
  /** A number in a hook definition is outside its range. */
  'config.range': 'The message names the field and the range.',
  /** Two hooks have the same id. */
  'config.duplicate_id': 'Leave `id` out to get a new one, or remove the first hook.',
  /** No handler is installed for the `handler_type` of a hook. */
  'config.unknown_handler': 'Pass the handler to `createHooks({ handlers: [...] })`.',
  /**
   * The address of a hook cannot be called: it is not http or https, has no host, or contains a user name and
   * password.
   */
  'config.url': 'Write `https://host/path`; credentials belong in `headers`.',
  /** A hook id names no registered hook. */
  'config.unknown_hook': '`hooks.list()` shows the ids.',
  /** A hook file is neither YAML nor JSON, is nested too deeply, or names one key twice. */
  'config.syntax': 'The message has the position; an editor with the JSON Schema underlines it.',
  /** A hook file cannot be read: missing, not a regular file, larger than 1 MiB, or not UTF-8. */
  'config.unreadable': 'To have no hooks, write `hooks: []` instead of removing the file.',
  /** A hook file or its folder belongs to another user or can be written by others. */
  'config.untrusted_owner':
    'Own it and run `chmod o-w` on file and folder; a group must not be able to write a managed file.',
  /** One folder has several hook files, for example hooks.yaml and hooks.json. */
  'config.two_files': 'Keep one of them.',
  /** A prompt hook has no condition, so every event would be sent to a model. */
  'config.prompt_needs_matcher': 'Give it a `matcher`, a `match` or an `if_expr`.',

  /** A name pattern is not a valid RE2 regular expression. */
  'match.syntax': 'The message has the position and the problem.',
  /** A pattern uses look-around or a back-reference, which RE2 does not have. */
  'match.unsupported': 'Rewrite the pattern, or test the input in an `if_expr`.',
  /** A matcher could be a regular expression or a `Tool(pattern)`, and the two would differ. */
  'match.ambiguous': 'Anchor it with ^ to mean a regular expression, or use one `Tool(pattern)` per hook.',
  /** An `if_expr` is not valid CEL. */
  'match.cel_syntax': 'The message has line and column.',
  /**
   * An `if_expr` cannot be a condition: its result is not true or false, or it uses an unknown variable or
   * function.
   */
  'match.cel_type':
    'Compare something, for example `size(tool_input.command) > 80`; `docs/matchers.md` lists the variables.',
  /** A matcher is longer, deeper or more nested than allowed. */
  'match.too_complex': 'Split it into several hooks or move the logic into the handler.',
  /** An `if_expr` failed while it was evaluated: a missing key, a wrong type, a cost limit. */
  'match.cel_eval': 'Guard optional keys with `has(tool_input.key)`.',

  /** A handler threw or rejected. */
  'handler.error': 'The reason names the hook; the trace has the error.',
  /** A handler did not answer before its deadline. */
  'handler.timeout': 'Raise `timeout_ms`, make the handler faster, or set `on_timeout: allow`.',
  /** A handler returned something that its event cannot read. */
  'handler.result': 'Return nothing, or one of allow() ask() block() rewrite() addContext().',
  /** A synchronous event has an async hook, or a hook that returned a promise. */
  'handler.must_be_sync': 'Return the value, not a promise.',
  /** This edition does not run hooks of this handler type. */
  'handler.not_in_edition':
    'Tenants share this machine, so commands do not run on it: use an http, prompt or script hook.',

  /** The address is private, local or special, or that of this gateway. */
  'outbound.private_address': 'Use a public host, or add the internal one to the outbound allow-list.',
  /** The host name could not be resolved. */
  'outbound.dns': 'Check the name and the resolver.',
  /** The connection failed, or broke before the response was complete. */
  'outbound.connection': 'Check that the receiver is up and speaks HTTP.',
  /** The certificate of the receiver is not valid, or TLS failed. */
  'outbound.tls': 'Fix its certificate, or give its authority in `ca`.',
  /** The receiver did not answer before the deadline. */
  'outbound.timeout': 'Raise `timeout_ms`, make the receiver faster, or set `on_timeout: allow`.',
  /** The receiver answered with a redirect, which is never followed. */
  'outbound.redirect': 'Configure the final address.',
  /** The receiver answered with an error status. */
  'outbound.status': 'The message has the status; 5xx is retried once, 4xx is not.',
  /** The answer is larger than allowed, counted after decompression. */
  'outbound.too_large': 'Answer less.',
  /** The content encoding of the answer is unknown, or its data is broken. */
  'outbound.decode': 'Answer without compression.',

  /** A value is or should be encrypted, and there is no key. */
  'secret.no_key': 'Give the key that it was encrypted with.',
  /** An encryption key is malformed, has a bad id, or was used too often. */
  'secret.key':
    'A key is 64 hex digits, 44 base64 characters or 32 bytes; rotate one that was used too often.',
  /** An encrypted value cannot be decrypted: wrong or unknown key, moved to another place, or damaged. */
  'secret.unreadable': 'Keep the old key in the keyring until every value has been encrypted again.',

  /**
   * The system refused to start a command: it does not exist, may not be executed, or its arguments are too
   * long.
   */
  'process.start': 'Check the path and its permissions; large payloads belong on stdin, not in `$ARGUMENTS`.',
  /** The directory of a command does not exist or is outside the workspace. */
  'process.cwd': 'Fix `cwd`; links are followed before the check.',
  /** A command ended with an exit code that is neither 0 (read its output) nor 2 (block). */
  'process.exit': 'The message has the code and the end of stderr.',
  /** A signal ended a command before it answered. */
  'process.signal': 'The message names the signal; look for a crash or the memory limit.',
  /** A command did not end before its deadline; it and everything it started were killed. */
  'process.timeout': 'Raise `timeout_ms`, make the command faster, or keep it running with `worker: true`.',
  /** A command wrote more than 1 MiB and was killed. */
  'process.output_limit': 'Write logs to a file; stdout is for the answer.',
  /** A command with `worker: true` broke the protocol of one JSON line in, one JSON line out. */
  'process.worker':
    'Answer each line with one JSON object, with the `id` of its event or in order; write logs to stderr.',

  /** Too many dispatches caused one another. */
  'guard.depth': 'Look for a hook that starts the work it listens to, or raise `maxDepth`.',
  /** The hook fired recently; its cooldown is running. */
  'guard.cooldown': 'Lower `cooldown_ms` if it should fire more often.',
  /** The hook already fired for an identical event within its window. */
  'guard.dedup': 'Lower `dedup_window_ms` if repeats should be handled.',
  /** The hook reached its number of invocations for this turn. */
  'guard.quota': 'Raise `max_invocations_per_turn` or tighten the matcher.',
  /** The budget of this hook is spent. */
  'guard.budget': 'Raise the budget or wait for the next period.',
  /** The hook failed too often in a row and was switched off. */
  'guard.breaker': 'Fix the cause, then switch it on again.',
  /** The event was blocked too many times in a row for this session, so this block was not applied. */
  'guard.streak': 'A hook keeps the agent from stopping; look at its reason.',
  /** The store behind a guard could not answer. */
  'guard.state': 'The hook followed its `on_error` policy; look at the store.',

  /** The source of a script hook is not valid JavaScript. */
  'script.compile': 'The message names the line.',
  /** A script hook threw, returned no decision, or its sandbox failed. */
  'script.error': 'Return { decision: "allow" | "block" | "ask", reason } from handle(event).',
  /** A script hook ran past its deadline and was stopped. */
  'script.timeout': 'Make the script do less; a script should decide in milliseconds.',

  /** The model did not call `decide`, or called it with something that is not a decision. */
  'prompt.parse': 'Keep `prompt_template` short and imperative, or use a model that follows tool calls.',
  /** The model did not answer before the deadline. */
  'prompt.timeout': 'Raise `timeout_ms`, use a faster model, or set `on_timeout: allow`.',
  /** The provider of the model failed or could not be reached. */
  'prompt.provider': 'The message has the status; check the address, the key and the limits of the account.',
  /** No provider is configured for the model of a hook. */
  'prompt.model': 'Configure the provider, or a default model.',
  /** The token budget of the tenant for this month is spent, or could not be read. */
  'prompt.budget': 'Raise the budget, or wait for the first day of the next month (UTC).',

  /** A hook should start an agent, but the program provides no `startAgent`. */
  'agent.no_host': 'Pass `host: { startAgent }` to `createHooks`.',
  /** A hook names an agent that the host does not know, or none at all. */
  'agent.unknown': 'Check `agent_name`, or give the hook a `prompt` of its own.',
  /** The agent that a hook started ended without an answer. */
  'agent.failed': 'The message says how it ended.',
  /** The agent that a hook started did not answer before the deadline and was stopped. */
  'agent.timeout': 'Raise `timeout_ms`, or set `on_timeout: allow`.',
  /** The JSON Schema of an agent hook cannot be used: not valid, too large, or with a pattern RE2 does not have. */
  'agent.schema': 'The message says what is wrong; patterns have no look-around and no back-references.',
  /** The answer of the agent does not fit its `output_schema`, or is not a decision. */
  'agent.output_schema':
    'Answer { "action": "continue" | "block", ... }, { "ok": true | false, ... } or { "kind": ... }.',

  /** The hooks of one dispatch together used up its time budget. */
  'engine.budget': 'Shorten the chain, or the timeouts of its hooks.',
  /** The caller aborted the dispatch. */
  'engine.aborted': 'Nothing to fix; an aborted gate blocks.',
  /** A hook that must see the final input tried to change it again. */
  'engine.unstable_rewrite': 'Make the rewriting hook idempotent, or let only one hook rewrite this input.',
  /** A hook returned a block on an event that cannot block. */
  'engine.block_ignored': 'Listen to an event that can block, such as pre_tool_use.',
  /** A handler answered after its deadline; the answer was dropped. */
  'engine.late': 'Raise `timeout_ms` if the answer matters.',
  /** `dispatchSync` was called for an event that may wait. */
  'engine.not_sync': 'Use `await hooks.dispatch(...)`.',
  /** A handler has blocked the event loop for more than a second. */
  'engine.stalled': 'A synchronous loop cannot be stopped; run such code as a command or script hook.',

  /** A changed hook file cannot be used, so its previous hooks stay. */
  'reload.kept_previous': 'Fix the file; it is read again when it changes.',

  /** A hook file of a repository is new or has changed, and this content is not trusted yet. */
  'trust.needed': 'Review it and run `hookhelm trust`.',
  /** The store of trusted hook files cannot be used, so no repository is trusted. */
  'trust.store': 'You must own the file, and only you may write it; remove it to start afresh.',
} as const satisfies Record<string, string>

/** The codes of this table. */
export type EngineCode = keyof typeof errorTable
/** Every error code, including those that only a server raises. */
export type ErrorCode = EngineCode | ServerCode

/** Whether a value is a code of this table. */
export function isErrorCode(value: unknown): value is EngineCode {
  return typeof value === 'string' && Object.hasOwn(errorTable, value)
}
