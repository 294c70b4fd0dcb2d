import { errorText, type HookError, isHookError } from '../../../engine/core/errors/error.ts'
import type { EngineCode, ErrorCode } from '../../../engine/core/errors/error-table.ts'
import type { HandlerCode } from '../../../engine/core/errors/handler-errors.ts'
import { type ServerCode, serverError } from '../../../engine/core/errors/server-errors.ts'
import type { Log } from '../../../engine/core/records/sink.ts'
import type { Clock } from '../../../engine/core/time/clock.ts'
import { retryAfterOf } from '../../../engine/core/time/retry-after.ts'
import { definedFields } from '../../../engine/core/values/defined-fields.ts'
import { validationErrorsOf } from '../../../runs/create-run.ts'

/** Codes of the original gateway, which its clients understand. `details.code` carries ours. */
type SeedCode =
  | 'INVALID_REQUEST'
  | 'UNAUTHORIZED'
  | 'NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'FAILED_PRECONDITION'
  | 'RESOURCE_EXHAUSTED'
  | 'UNAVAILABLE'
  | 'INTERNAL'

interface ReplyRow {
  readonly status: number
  readonly seed: SeedCode
  /** The same request may succeed later. */
  readonly retryable?: true
}

/** Codes that only programs around the gateway raise. */
type NotInGateway =
  | 'gateway.unproven'
  | `connect.${string}`
  | `agent.${string}`
  | `runs.${'outside_project' | 'outside_folders' | 'unconnected'}`
  | `approval.${'denied' | 'expired' | 'cancelled' | 'pending' | 'no_wait' | 'budget'}`

type Mapped = Exclude<ServerCode, NotInGateway>

const invalid: ReplyRow = { status: 400, seed: 'INVALID_REQUEST' }
const broken: ReplyRow = { status: 500, seed: 'INTERNAL' }

/** In these areas a request is wrong, unless the rows say otherwise. */
const REQUEST_AREAS = /^(?:input|config|match)\./

/** HTTP status and original code per error code. The compiler requires every code of the gateway that a caller can cause. */
const rows: Readonly<
  Record<Mapped, ReplyRow> & Partial<Record<EngineCode | HandlerCode | ServerCode, ReplyRow>>
> = {
  'store.unavailable': { status: 503, seed: 'UNAVAILABLE', retryable: true },
  'store.corrupt': broken,
  'store.newer': broken,
  'store.older': broken,
  'store.role': broken,
  'store.taken': { status: 409, seed: 'ALREADY_EXISTS' },

  'auth.token': { status: 401, seed: 'UNAUTHORIZED' },
  'auth.scope': { status: 403, seed: 'UNAUTHORIZED' },
  'auth.host': { status: 421, seed: 'UNAUTHORIZED' },
  'auth.origin': { status: 403, seed: 'UNAUTHORIZED' },
  'auth.blocked': { status: 429, seed: 'RESOURCE_EXHAUSTED', retryable: true },

  'config.hook_file': { status: 503, seed: 'UNAVAILABLE' },

  'gateway.request': invalid,
  'gateway.not_found': { status: 404, seed: 'NOT_FOUND' },
  'gateway.conflict': { status: 409, seed: 'FAILED_PRECONDITION' },
  'gateway.rate_limited': { status: 429, seed: 'RESOURCE_EXHAUSTED', retryable: true },
  'gateway.busy': { status: 429, seed: 'RESOURCE_EXHAUSTED', retryable: true },
  'gateway.media_type': { status: 415, seed: 'INVALID_REQUEST' },
  'gateway.protocol': invalid,
  'gateway.internal': broken,
  'gateway.stopping': { status: 503, seed: 'UNAVAILABLE', retryable: true },
  'gateway.exposed': broken,
  'gateway.running': broken,
  'gateway.unreachable': { status: 502, seed: 'UNAVAILABLE', retryable: true },
  'gateway.setting': invalid,
  'gateway.socket': broken,
  'gateway.edition': { status: 409, seed: 'FAILED_PRECONDITION' },
  'gateway.builtin': { status: 409, seed: 'FAILED_PRECONDITION' },

  'runs.parameter_validation_failed': invalid,
  'runs.duplicate_runner': { status: 409, seed: 'ALREADY_EXISTS' },
  'runs.unknown_run': { status: 409, seed: 'FAILED_PRECONDITION' },
  'runs.unknown_session': { status: 409, seed: 'FAILED_PRECONDITION', retryable: true },
  'runs.unknown_runner': { status: 401, seed: 'UNAUTHORIZED' },

  'approval.decided': { status: 409, seed: 'FAILED_PRECONDITION' },
  'approval.own': { status: 403, seed: 'UNAUTHORIZED' },
  'approval.link': { status: 404, seed: 'NOT_FOUND' },

  'delivery.dead': { status: 409, seed: 'FAILED_PRECONDITION' },
  'audit.broken': broken,

  'input.too_large': { status: 413, seed: 'INVALID_REQUEST' },

  'config.exists': { status: 409, seed: 'ALREADY_EXISTS' },
  'config.duplicate_id': { status: 409, seed: 'ALREADY_EXISTS' },
  'config.unknown_hook': { status: 404, seed: 'NOT_FOUND' },
  'config.untrusted_owner': broken,
  'config.two_files': broken,
  'config.unknown_pack': { status: 404, seed: 'NOT_FOUND' },

  // Further errors in a hook definition that a caller saves.
  'handler.not_in_edition': { status: 400, seed: 'FAILED_PRECONDITION' },
  'handler.must_be_sync': invalid,
  'outbound.private_address': invalid,
  'script.compile': invalid,
  'agent.schema': invalid,
  'prompt.model': { status: 400, seed: 'FAILED_PRECONDITION' },
}

export interface ErrorBody {
  readonly code: SeedCode
  readonly message: string
  readonly details: {
    readonly code: ErrorCode
    readonly hint: string
    readonly at?: string
    /** What is wrong with the parameters of a run. */
    readonly validation_errors?: NonNullable<ReturnType<typeof validationErrorsOf>>
  }
  readonly retryable?: true
  readonly retryAfterMs?: number
}

export interface ErrorReply {
  readonly status: number
  readonly body: ErrorBody
}

/** The reply for anything that was thrown. Errors without a code are logged, and their text stays private. */
export function errorReply(thrown: unknown, log: Log): ErrorReply {
  const error = isHookError(thrown) ? thrown : logUnexpected(thrown, log)
  const { status, seed, retryable } = rowOf(error.code)
  const retryAfterMs = retryAfterOf(error)
  return {
    status,
    body: {
      code: seed,
      message: error.message,
      details: detailsOf(error),
      ...definedFields({ retryable, retryAfterMs }),
    },
  }
}

function detailsOf(error: HookError): ErrorBody['details'] {
  const { code, hint, at } = error
  const validation_errors = validationErrorsOf(error)
  return {
    ...{ code, hint },
    ...definedFields({ at, validation_errors }),
  }
}

function rowOf(code: ErrorCode): ReplyRow {
  return rowsByCode.get(code) ?? (REQUEST_AREAS.test(code) ? invalid : broken)
}

const rowsByCode = new Map<string, ReplyRow>(Object.entries(rows))

function logUnexpected(thrown: unknown, log: Log): HookError {
  log('gateway.failed', {
    error: errorText(thrown),
    stack: thrown instanceof Error ? framesOf(thrown) : undefined,
  })
  return serverError('gateway.internal', 'the gateway failed unexpectedly')
}

const FRAMES = 6

/** Function, file name and line of each frame, without the folders of this machine. */
function framesOf({ stack }: Error): string {
  const frames = String(stack)
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
  return frames
    .slice(0, FRAMES)
    .map((line) => line.trim().replace(/^(at (?:[^(/\\]*\()?).*[\\/]/, '$1'))
    .join(' ')
}

const MAX_LOGGED_PER_SECOND = 5

/** Limits `gateway.failed` lines: a caller who knows a failing request must not fill the disk with log lines. */
export function limitFailureLog(log: Log, clock: Clock): Log {
  let since = Number.NEGATIVE_INFINITY
  let logged = 0
  let dropped = 0
  return (name, fields) => {
    if (name !== 'gateway.failed') return log(name, fields)
    const now = clock.elapsed()
    if (now - since >= 1_000) {
      since = now
      logged = 0
    }
    if (logged >= MAX_LOGGED_PER_SECOND) {
      dropped += 1
      return
    }
    logged += 1
    log(name, dropped === 0 ? fields : { ...fields, dropped })
    dropped = 0
  }
}
