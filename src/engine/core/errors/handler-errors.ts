import { HookError, type HookErrorOptions } from './error.ts'

/**
 * The codes that handlers, hook files and the safe edges raise. They are not in `error-table.ts`, so that programs that
 * embed only the library do not contain their hints.
 */
export const handlerErrors = {
  /** The text is empty or only white space. */
  'input.empty': 'Send one JSON value.',
  /** The text is not JSON. */
  'input.json': 'The message has line and column.',
  /** The bytes are not UTF-8. */
  'input.utf8': 'Encode the text as UTF-8.',
  /** The objects of the text have more keys in total than allowed. */
  'input.too_many_keys': 'Send less, or pass the large part as text.',
  /** A key could reach the prototype of an object: `__proto__`, or `prototype` below `constructor`. */
  'input.forbidden_key': 'Rename the key.',
  /** An object has a key twice, so two readers could see different values. */
  'input.duplicate_key': 'Use every key once.',

  /** This edition does not run hooks of this handler type. */
  'handler.not_in_edition':
    'Tenants share this machine, so commands do not run on it: use an http, prompt or script hook.',

  /** A file that should be written already exists. */
  'config.exists': 'Move it away, or choose another name.',
  /** A hook file is neither YAML nor JSON, is nested too deeply, or names one key twice. */
  'config.syntax': 'The message has the position; an editor with the JSON Schema underlines it.',
  /** A hook file cannot be read: missing, not a regular file, larger than 1 MiB, or not UTF-8. */
  'config.unreadable': 'To have no hooks, write `hooks: []` instead of removing the file.',
  /** A hook file or its folder belongs to another user or can be written by others. */
  'config.untrusted_owner':
    'Own it and run `chmod o-w` on file and folder; a group must not be able to write a managed file.',
  /** One folder has several hook files, for example hooks.yaml and hooks.json. */
  'config.two_files': 'Keep one of them.',
  /** There is no starter pack with this name. */
  'config.unknown_pack': 'List the packs with `hookhelm add --list`.',
  /** The list of hooks in a file is written so that a command cannot add to it without changing other lines. */
  'config.hook_list': 'Write `hooks:` as a list with one `- ` per hook, each on a line of its own.',
  /** A prompt hook has no condition, so every event would be sent to a model. */
  'config.prompt_needs_matcher': 'Give it a `matcher`, a `match` or an `if_expr`.',

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

  /** The source of a script hook is not valid JavaScript. */
  'script.compile': 'The message names the line.',
  /** A script hook threw, returned no decision, or its sandbox failed. */
  'script.error': 'Return { decision: "allow" | "block" | "ask", reason } from handle(event).',
  /** A script hook ran past its deadline and was stopped. */
  'script.timeout': 'Make the script do less; a script should decide in milliseconds.',

  /** The model did not call `decide`, called it with something that is not a decision, or sent no readable response. */
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

  /** A changed hook file cannot be used, so its previous hooks stay. */
  'reload.kept_previous': 'Fix the file; it is read again when it changes.',

  /** A hook file of a repository is new or has changed, and this content is not trusted yet. */
  'trust.needed': 'Review it and run `hookhelm trust`.',
  /** A script that a trusted command names has changed, is gone or is new, so the command did not run. */
  'trust.script': 'Review the script, then run `hookhelm trust` in the repository.',
  /** The store of trusted hook files cannot be used, so no repository is trusted. */
  'trust.store': 'You must own the file, and only you may write it; remove it to start afresh.',
} as const satisfies Record<string, string>

/** The codes of this table. */
export type HandlerCode = keyof typeof handlerErrors

/** A coded error of a handler, a hook file or a safe edge, with the hint of its table. */
export function handlerError(code: HandlerCode, message: string, options: HookErrorOptions = {}): HookError {
  return new HookError(code, message, { hint: handlerErrors[code], ...options })
}

/** Whether a value is a code of this table. */
export function isHandlerCode(value: unknown): value is HandlerCode {
  return typeof value === 'string' && Object.hasOwn(handlerErrors, value)
}
