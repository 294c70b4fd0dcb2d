import { HookError, type HookErrorOptions } from './error.ts'

/**
 * The codes that only a server raises: store, gateway, deliveries. They are not in `error-table.ts`, so that programs
 * that embed the library do not contain their hints.
 */
export const serverErrors = {
  /** A hook file cannot be used, so every gate that it applies to blocks. */
  'config.hook_file':
    'The message has the file and the line; `hookhelm status` and `hookhelm validate` show it too.',

  /** The database did not answer, or cannot take the request now: no space, read-only, restarting. */
  'store.unavailable': 'Check the disk or the database server; nothing that was acknowledged is lost.',
  /** The database file is damaged or is not a database. It was not changed. */
  'store.corrupt': 'Restore it from a backup, or move it away to start afresh.',
  /** The database was written by a newer version. */
  'store.newer': 'Start the newer version again; there is no way back for its data.',
  /** The database was made by an older development version, before the first release. */
  'store.older': 'Move the database away and start afresh, or use the version that made it.',
  /** The database role can see the rows of every tenant, so row-level security would not apply. */
  'store.role':
    'Connect as a role that is neither superuser, nor BYPASSRLS, nor the owner of the tables in use.',
  /** A name or key that must be unique is taken. */
  'store.taken': 'Choose another name, or change what is there.',

  /** The token is missing, unknown, expired or revoked. */
  'auth.token': 'Send `Authorization: Bearer <token>`; a token in the address is never read.',
  /** The token does not allow this: its role is too low, or it belongs to another tenant. */
  'auth.scope': 'Use a token with the role that the message names.',
  /** The request names another host, as in a DNS rebinding attack. */
  'auth.host': 'Call the gateway by an address it listens on, or add the name to `hosts` in its config.yaml.',
  /** A page of another site sent the request. */
  'auth.origin': 'Add its origin to `origins` in config.yaml if it is yours.',
  /** Too many bad tokens came from this address. */
  'auth.blocked': 'Wait as long as Retry-After says, then send the right one.',

  /** The request cannot be understood: a missing or wrong parameter, an unknown method. */
  'gateway.request': 'The message names the parameter.',
  /** The resource does not exist or belongs to another tenant. */
  'gateway.not_found': 'List what there is; ids of other tenants are never found.',
  /** Two requests with one idempotency key or event id ask for two different things. */
  'gateway.conflict': 'Use a fresh key for a new request.',
  /** The tenant sent more than its rate limit allows. */
  'gateway.rate_limited': 'Wait as long as Retry-After says, or raise `rate_limit`.',
  /** The gateway is handling as many requests as it accepts at once. */
  'gateway.busy': 'Wait as long as Retry-After says.',
  /** The content type of the body is not JSON. Forms of other sites cannot send JSON. */
  'gateway.media_type': 'Send `Content-Type: application/json`.',
  /** The request cannot be served: not HTTP, headers too large, sent too slowly, or an invalid frame. */
  'gateway.protocol': 'The message says what was wrong; look at the client or at a proxy in between.',
  /** An unexpected error. */
  'gateway.internal': 'The log of the gateway has the cause, under `gateway.failed`.',
  /** The gateway is shutting down and accepts no requests. */
  'gateway.stopping': 'Send it again soon, or to another node.',
  /** The gateway would be reachable from the network without tokens. */
  'gateway.exposed': 'Listen on 127.0.0.1, or make a token first.',
  /** Another gateway uses this data directory. */
  'gateway.running': 'Stop it, or set HOOKHELM_HOME to another directory.',
  /** The program at the address of the gateway does not know the owner's token, so it is not sent. */
  'gateway.unproven':
    'Start the gateway again, or end the program that listens on its port. For another gateway, give its token with HOOKHELM_TOKEN.',
  /** No gateway answers. */
  'gateway.unreachable': 'Start one with `hookhelm up`, or say where it is with HOOKHELM_URL.',
  /** A setting in config.yaml or on the command line cannot be used. */
  'gateway.setting': 'The message names the setting; the published schema lists them all.',
  /** The socket path is too long, or its directory belongs to another user. */
  'gateway.socket': 'Set HOOKHELM_HOME to a shorter path of your own.',
  /** The lite edition serves one tenant. */
  'gateway.edition': 'Start with `--edition standard`; command hooks are switched off there.',
  /** A builtin hook can only be switched on and off. */
  'gateway.builtin': 'Copy it into a hook of your own to change it.',

  /** The parameters of a run do not fit the `parameters_schema` of its agent. */
  'runs.parameter_validation_failed':
    '`validation_errors` lists every problem; `hookhelm blueprints show` shows the schema.',
  /** A runner registers as the only one of its host, folder and profile, and another one is alive. */
  'runs.duplicate_runner':
    'Stop the other runner first, or register without `executor`, so that several share the work.',
  /** A runner polls or reports that is not registered, or was removed. */
  'runs.unknown_runner': 'Register it again with POST /runner/register; `hookhelm runner` does so by itself.',

  /** A tool call names a run that this gateway did not start, so the hooks of the run are not known here. */
  'runs.unknown_run': 'Connect the agent to the gateway of its runner.',
  /** A tool call may belong to a run of the same coding agent that has not reported its session yet. */
  'runs.unknown_session': 'Try again, or stop the run that the message names.',
  /** A tool of a run names a file outside of the folder of the run. */
  'runs.outside_project': 'Start the run with the `project_dir` that holds the file.',
  /** A run names a folder that no administrator has listed for runs. */
  'runs.outside_folders': 'List it in the setting `run_folders`, or in `hookhelm runner --folders`.',
  /** A run should start a coding agent whose tool calls would not reach the hooks. */
  'runs.unconnected': 'Run `hookhelm connect` for this agent on the machine of the runner.',

  /** A person denied the call. */
  'approval.denied': 'The message is theirs; `hookhelm approvals show` has who and when.',
  /** No person answered before the deadline of the question. */
  'approval.expired': 'Make the call again to ask again.',
  /** The question was withdrawn before a person answered. */
  'approval.cancelled': 'Make the call again to ask again.',
  /** The caller can wait no longer, and the question is still open. */
  'approval.pending': 'Make the same call again after it was answered: the answer counts for that call.',
  /** A hook asks for approval, and the caller can neither wait for a person nor ask one. */
  'approval.no_wait': 'Send `within_ms`, or let the agent wait longer: `hookhelm connect --wait 600`.',
  /** Another answer, the deadline or the caller was faster. */
  'approval.decided': 'The message has who and when.',
  /** The session, the agent or the tenant has asked people too often within an hour. */
  'approval.budget': 'Write a hook that decides these calls, or raise the setting `approval_budget`.',
  /** A link that answers a question is wrong, used or too old. */
  'approval.link': 'Answer in the web app, under Approvals.',
  /** The caller may not answer this question. */
  'approval.own': 'Another person has to answer.',

  /** A delivery failed too often and became a dead letter. */
  'delivery.dead': 'Fix the receiver, then `hookhelm deliveries replay`.',

  /** A hook blocked an action of an agent in a program, or no decision could be made. */
  'agent.blocked': 'The message says why; `hookhelm explain` shows which hook decided.',

  /** There is no agent of that name, or it is not connected in this place. */
  'connect.agent': '`hookhelm agents` lists them, and where they are connected.',
  /** The configuration of an agent cannot be read, written or parsed. Nothing was changed. */
  'connect.config': 'Fix the file at the position in the message, then try again.',
  /** The configuration of an agent was changed meanwhile, or since it was connected. */
  'connect.changed': 'Check the difference; commands with `--force` continue anyway.',

  /** A recorded row was changed, removed, moved or inserted. */
  'audit.broken': 'Compare with a backup; the message names the first bad row.',
} as const satisfies Record<string, string>

/** The codes of this table. */
export type ServerCode = keyof typeof serverErrors

/** A coded error of the server, with the hint of its table. */
export function serverError(code: ServerCode, message: string, options: HookErrorOptions = {}): HookError {
  return new HookError(code, message, { hint: serverErrors[code], ...options })
}
