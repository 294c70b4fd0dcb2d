/** Every code Hookhelm can raise. `docs/errors.md` is generated from this table. */
export const errorTable = {
  'input.unknown_event': {
    means: 'The event name is neither in the catalogue nor an alias of one that is.',
    hint: 'Check the spelling; `docs/events.md` lists every name and alias.',
  },
  'input.schema': {
    means: 'The payload does not have the shape its event requires.',
    hint: 'The message names the path and what was expected there.',
  },
  'input.unreadable': {
    means: 'Reading the payload threw, so it can be neither checked nor frozen.',
    hint: 'Pass plain data: no throwing getters, no proxies that refuse to be read.',
  },
  'input.too_deep': {
    means:
      'The payload is nested too deeply: more than 64 levels in JSON text, or 256 in a value passed in process.',
    hint: 'Flatten the payload or pass the deep part as text.',
  },
  'input.empty': {
    means: 'There is no JSON at all, only blanks.',
    hint: 'Send one JSON value.',
  },
  'input.json': {
    means: 'The text is not JSON.',
    hint: 'The message carries line and column.',
  },
  'input.utf8': {
    means: 'The bytes are not UTF-8.',
    hint: 'Encode the text as UTF-8.',
  },
  'input.too_large': {
    means: 'The text is larger than allowed.',
    hint: 'Send less, or raise the limit where the text is read.',
  },
  'input.too_many_keys': {
    means: 'The objects of the text have more keys together than allowed.',
    hint: 'Send less, or pass the large part as text.',
  },
  'input.forbidden_key': {
    means: 'A key could reach the prototype of an object: `__proto__`, or `prototype` below `constructor`.',
    hint: 'Rename the key.',
  },
  'input.duplicate_key': {
    means: 'An object names one key twice, so that two readers could read two things.',
    hint: 'Name every key once.',
  },
  'config.exists': {
    means: 'A file that would be written is there already.',
    hint: 'Move it away first, or choose another name.',
  },
  'config.event': {
    means: 'An event row given to `defineEvent` or `createHooks` contradicts itself or a built-in event.',
    hint: 'The message names the property; built-in events cannot be replaced.',
  },
  'config.field': {
    means: 'A hook definition has a field that does not exist or has the wrong type.',
    hint: 'The nearest field name is in the message.',
  },
  'config.range': {
    means: 'A number in a hook definition lies outside its range.',
    hint: 'The message names the field and the range.',
  },
  'config.duplicate_id': {
    means: 'Two hooks carry the same id.',
    hint: 'Leave `id` out to get a fresh one, or undo the first registration.',
  },
  'config.unknown_handler': {
    means: 'No handler is installed for the `handler_type` of a hook.',
    hint: 'Pass the handler to `createHooks({ handlers: [...] })`.',
  },
  'config.url': {
    means:
      'The address of a hook is not one that may be called: not http or https, no host, or with a name and password inside.',
    hint: 'Write `https://host/path`; credentials belong into `headers`.',
  },
  'config.unknown_hook': {
    means: 'A hook id names no registered hook.',
    hint: '`hooks.list()` shows the ids.',
  },
  'config.syntax': {
    means: 'A hook file is neither YAML nor JSON, is nested too deeply, or names one key twice.',
    hint: 'The place is in the message; an editor that knows the file format underlines it.',
  },
  'config.unreadable': {
    means: 'A hook file cannot be read: gone, no ordinary file, larger than 1 MiB, or not UTF-8.',
    hint: 'To have no hooks, write `hooks: []` instead of removing the file.',
  },
  'config.untrusted_owner': {
    means: 'A hook file, or the folder it lies in, belongs to somebody else or can be written by others.',
    hint: 'Make it yours and run `chmod o-w` on file and folder; a managed file must not be writable by a group.',
  },
  'config.two_files': {
    means: 'One folder holds several hook files, for example hooks.yaml and hooks.json.',
    hint: 'Keep one of them.',
  },
  'config.prompt_needs_matcher': {
    means: 'A prompt hook has no condition, so a model would be asked about every event.',
    hint: 'Give it a `matcher`, a `match` or an `if_expr`.',
  },
  'match.syntax': {
    means: 'A name pattern is not a valid RE2 regular expression.',
    hint: 'The message carries the position and what RE2 objected to.',
  },
  'match.unsupported': {
    means: 'A pattern uses look-around or a back-reference, which RE2 does not have.',
    hint: 'Rewrite the pattern, or test the input in an `if_expr`.',
  },
  'match.ambiguous': {
    means: 'A matcher could be a regular expression or a `Tool(pattern)`, and the two would differ.',
    hint: 'Anchor it with ^ to mean a regular expression, or use one `Tool(pattern)` per hook.',
  },
  'match.cel_syntax': {
    means: 'An `if_expr` is not valid CEL.',
    hint: 'The message carries line and column.',
  },
  'match.cel_type': {
    means:
      'An `if_expr` cannot be a condition: it does not answer true or false, or names an unknown variable or function.',
    hint: 'Compare something, for example `size(tool_input.command) > 80`; `docs/matchers.md` lists the variables.',
  },
  'match.too_complex': {
    means: 'A matcher is longer, deeper or more nested than allowed.',
    hint: 'Split it into several hooks or move the logic into the handler.',
  },
  'match.cel_eval': {
    means: 'An `if_expr` failed while it was evaluated: a missing key, a wrong type, a cost limit.',
    hint: 'Guard optional keys with `has(tool_input.key)`.',
  },
  'handler.error': {
    means: 'A handler threw or rejected.',
    hint: 'The reason names the hook; the trace carries the error.',
  },
  'handler.timeout': {
    means: 'A handler did not answer before its deadline.',
    hint: 'Raise `timeout_ms`, make the handler faster, or set `on_timeout: allow`.',
  },
  'handler.result': {
    means: 'A handler answered something its event cannot read.',
    hint: 'Return nothing, or one of allow() ask() block() rewrite() addContext().',
  },
  'handler.must_be_sync': {
    means: 'An async function was registered on, or a promise returned from, a synchronous event.',
    hint: 'Return the value itself; synchronous events cannot wait.',
  },
  'outbound.private_address': {
    means: 'The address is a private, local or special one, or that of this gateway itself.',
    hint: 'Use a public host, or name the inner one in the outbound allow-list.',
  },
  'outbound.dns': {
    means: 'The host name could not be resolved.',
    hint: 'Check the name and the resolver.',
  },
  'outbound.connection': {
    means: 'The connection could not be made, or broke before the answer was complete.',
    hint: 'Check that the receiver is up and speaks HTTP.',
  },
  'outbound.tls': {
    means: 'The receiver could not prove who it is, or TLS failed.',
    hint: 'Mend its certificate, or give its authority in `ca`.',
  },
  'outbound.timeout': {
    means: 'The receiver did not answer before the deadline.',
    hint: 'Raise `timeout_ms`, make the receiver faster, or set `on_timeout: allow`.',
  },
  'outbound.redirect': {
    means: 'The receiver answered with a redirect; those are never followed.',
    hint: 'Configure the final address.',
  },
  'outbound.status': {
    means: 'The receiver answered with a status that is no success.',
    hint: 'The message carries the status; 5xx is tried once more, 4xx is not.',
  },
  'outbound.too_large': {
    means: 'The answer is larger than allowed, counted after decompression.',
    hint: 'Answer less.',
  },
  'outbound.decode': {
    means: 'The content encoding of the answer is unknown, or its data is broken.',
    hint: 'Answer without compression.',
  },
  'secret.no_key': {
    means: 'Something is encrypted, or should be, and no key was given.',
    hint: 'Give the key that it was encrypted with.',
  },
  'secret.key': {
    means: 'An encryption key is malformed, has a bad id, or was used too often.',
    hint: 'A key is 64 hex digits, 44 base64 characters or 32 bytes; rotate one that is worn.',
  },
  'secret.unreadable': {
    means:
      'An encrypted value cannot be decrypted: wrong or unknown key, moved to another place, or damaged.',
    hint: 'Keep the old key in the keyring until every value has been encrypted again.',
  },
  'handler.not_in_edition': {
    means: 'This edition does not run hooks of this handler type.',
    hint: 'Several tenants share one machine, so nobody may start commands on it: use an http, prompt or script hook.',
  },
  'process.start': {
    means:
      'The system refused to start a command: it does not exist, may not be executed, or its arguments are too long.',
    hint: 'Check the path and its permissions; large payloads belong on stdin, not into `$ARGUMENTS`.',
  },
  'process.cwd': {
    means: 'The directory a command should run in does not exist, or lies outside of the workspace.',
    hint: 'Mend `cwd`; links are followed before the check.',
  },
  'process.exit': {
    means: 'A command ended with an exit code that is neither 0 (read its output) nor 2 (block).',
    hint: 'The message carries the code and the end of stderr.',
  },
  'process.signal': {
    means: 'A command was ended by a signal before it answered.',
    hint: 'The message names the signal; look for a crash or the memory limit.',
  },
  'process.timeout': {
    means: 'A command did not end before its deadline; it and everything it started were killed.',
    hint: 'Raise `timeout_ms`, make the command faster, or keep it running with `worker: true`.',
  },
  'process.output_limit': {
    means: 'A command wrote more than 1 MiB and was killed.',
    hint: 'Write logs to a file; stdout is for the answer.',
  },
  'process.worker': {
    means: 'A command with `worker: true` broke the agreement of one JSON line in, one JSON line out.',
    hint: 'Answer each line with one JSON object, with the `id` of its event or in order; write logs to stderr.',
  },
  'guard.depth': {
    means: 'The chain of dispatches that caused one another is too long.',
    hint: 'Look for a hook that starts the work it listens to, or raise `maxDepth`.',
  },
  'guard.cooldown': {
    means: 'The hook fired recently and is cooling down.',
    hint: 'Lower `cooldown_ms` if it should fire more often.',
  },
  'guard.dedup': {
    means: 'The hook already fired for an identical event within its window.',
    hint: 'Lower `dedup_window_ms` if repeats should be handled.',
  },
  'guard.quota': {
    means: 'The hook reached its number of invocations for this turn.',
    hint: 'Raise `max_invocations_per_turn` or tighten the matcher.',
  },
  'guard.budget': {
    means: 'Nothing is left of the budget this hook draws on.',
    hint: 'Raise the budget or wait for the next period.',
  },
  'guard.breaker': {
    means: 'The hook failed too often in a row and was switched off.',
    hint: 'Mend the cause, then switch it on again.',
  },
  'guard.streak': {
    means: 'The event was blocked too many times in a row for this session, so this block was not applied.',
    hint: 'A hook keeps the agent from stopping; look at its reason.',
  },
  'guard.state': {
    means: 'The store behind a guard could not answer.',
    hint: 'The hook followed its `on_error` policy; look at the store.',
  },
  'script.compile': {
    means: 'The source of a script hook is not valid JavaScript.',
    hint: 'The message names the line.',
  },
  'script.error': {
    means: 'A script hook threw, answered no decision, or its sandbox broke.',
    hint: 'Return { decision: "allow" | "block" | "ask", reason } from handle(event).',
  },
  'script.timeout': {
    means: 'A script hook ran longer than its deadline and was ended.',
    hint: 'Make the script do less; a script should decide in milliseconds.',
  },
  'prompt.parse': {
    means:
      'The model that should judge did not call `decide`, or called it with something that is no decision.',
    hint: 'Keep `prompt_template` short and imperative, or use a model that follows tool calls.',
  },
  'prompt.timeout': {
    means: 'The model that should judge did not answer before the deadline.',
    hint: 'Raise `timeout_ms`, use a faster model, or set `on_timeout: allow`.',
  },
  'prompt.provider': {
    means: 'The provider of the model failed or could not be reached.',
    hint: 'The message carries the status; check the address, the key and the limits of the account.',
  },
  'prompt.model': {
    means: 'Nobody is configured who serves the model that a hook names.',
    hint: 'Configure the provider, or a default model.',
  },
  'prompt.budget': {
    means:
      'Nothing is left of the token budget of the tenant for this month, or nobody could say what is left.',
    hint: 'Raise the budget, or wait for the first day of the next month (UTC).',
  },
  'agent.no_host': {
    means: 'A hook should start an agent, but the program lends no agent launcher.',
    hint: 'Pass `host: { startAgent }` to `createHooks`.',
  },
  'agent.unknown': {
    means: 'A hook names an agent that the host does not know, or none at all.',
    hint: 'Check `agent_name`, or give the hook a `prompt` of its own.',
  },
  'agent.failed': {
    means: 'The agent that a hook started ended without an answer.',
    hint: 'The message says how it ended.',
  },
  'agent.timeout': {
    means: 'The agent that a hook started did not answer before the deadline; it was told to stop.',
    hint: 'Raise `timeout_ms`, or set `on_timeout: allow`.',
  },
  'agent.schema': {
    means:
      'The JSON Schema of an agent hook cannot be used: not valid, too large, or with a pattern RE2 does not have.',
    hint: 'The message says what is wrong; patterns have no look-around and no back-references.',
  },
  'agent.output_schema': {
    means: 'The agent answered something that does not fit its `output_schema`, or that is no decision.',
    hint: 'Answer { "action": "continue" | "block", ... }, { "ok": true | false, ... } or { "kind": ... }.',
  },
  'engine.budget': {
    means: 'The hooks of one dispatch together used up its time budget.',
    hint: 'Shorten the chain, or the timeouts of its hooks.',
  },
  'engine.aborted': {
    means: 'The caller aborted the dispatch.',
    hint: 'Nothing to mend; a gate answers block when it is aborted.',
  },
  'engine.unstable_rewrite': {
    means: 'A hook that must see the final input tried to change it again.',
    hint: 'Make the rewriting hook idempotent, or let only one hook rewrite this input.',
  },
  'engine.block_ignored': {
    means: 'A hook returned a block on an event that cannot block.',
    hint: 'Listen to an event that can block, such as pre_tool_use.',
  },
  'engine.late': {
    means: 'A handler answered after its deadline; the answer was dropped.',
    hint: 'Raise `timeout_ms` if the answer matters.',
  },
  'engine.not_sync': {
    means: '`dispatchSync` was called for an event that may wait.',
    hint: 'Use `await hooks.dispatch(...)`.',
  },
  'engine.stalled': {
    means: 'A handler has kept the event loop busy for more than a second.',
    hint: 'A synchronous loop cannot be stopped in process; run such code as a command or script hook.',
  },
  'reload.kept_previous': {
    means: 'A hook file changed into one that cannot be used, so the hooks it had before stay.',
    hint: 'Mend the file; it is looked at again as soon as it changes.',
  },
  'trust.needed': {
    means: 'A hook file came with a repository, or changed there, and nobody has trusted this content yet.',
    hint: 'Read the difference and run `hookhelm trust`.',
  },
  'trust.store': {
    means: 'The store of trusted hook files cannot be used, so no repository counts as trusted.',
    hint: 'It must be a file of your own that only you can write; remove it to start afresh.',
  },
} as const satisfies Record<string, { means: string; hint: string }>

export type ErrorCode = keyof typeof errorTable

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(errorTable, value)
}
