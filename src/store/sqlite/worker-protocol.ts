import { HookError, isHookError } from '../../engine/core/error.ts'
import type { ErrorCode } from '../../engine/core/error-table.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import type { Keyring } from '../../safe/secret.ts'
import type { SqlStore } from '../sql/sql-store.ts'

/** The methods that the worker offers. */
export type WorkerStore = Omit<SqlStore, 'flush'> & {
  ping(): Promise<void>
  close(): Promise<void>
}

export interface WorkerStart {
  readonly file: string
  readonly keyring: Keyring
}

export interface WorkerCall {
  readonly id: number
  readonly method: keyof WorkerStore
  readonly args: readonly unknown[]
  /** The arguments contain numbers that are packed. */
  readonly packed?: true
}

/** An error that can be posted to another thread. */
export interface SerializedError {
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string
}

export type WorkerAnswer =
  | { readonly id: number; readonly value: unknown; readonly packed?: true }
  | { readonly id: number; readonly error: SerializedError }

/** What the worker posts: that it is ready (or why not), an answer, or a log line. */
export type WorkerMessage =
  | { readonly kind: 'ready'; readonly error?: SerializedError }
  | { readonly kind: 'answer'; readonly answer: WorkerAnswer }
  | { readonly kind: 'log'; readonly event: string; readonly fields: Readonly<Record<string, unknown>> }

export function serializeError(thrown: unknown): SerializedError {
  const known = isHookError(thrown)
    ? thrown
    : serverError('store.unavailable', thrown instanceof Error ? thrown.message : String(thrown))
  return { code: known.code, message: known.message, hint: known.hint }
}

export function deserializeError({ code, message, hint }: SerializedError): HookError {
  return new HookError(code, message, { hint })
}

/** The methods that the proxy forwards; `close` is separate. The type requires all of them. */
export const workerMethods: Readonly<Record<Exclude<keyof WorkerStore, 'close'>, true>> = {
  ping: true,
  listHooks: true,
  findHook: true,
  createHook: true,
  updateHook: true,
  toggleHook: true,
  deleteHook: true,
  tripHook: true,
  loadDefinitions: true,
  definitionChanges: true,
  disableHandlerTypes: true,
  readChangeMarks: true,
  recordEvents: true,
  recordBytes: true,
  history: true,
  tail: true,
  errorDetail: true,
  findEvent: true,
  sessionEvents: true,
  eventTexts: true,
  listSessions: true,
  findSession: true,
  listEvents: true,
  tailEvents: true,
  countDecisions: true,
  countHooks: true,
  countFacets: true,
  recentRequests: true,
  findAnswer: true,
  verifyAudit: true,
  prune: true,
  clampWindows: true,
  claimDeliveries: true,
  endDeliveries: true,
  extendLeases: true,
  listDeliveries: true,
  findDeliveries: true,
  replayDeliveries: true,
  nextDelivery: true,
  takeGuards: true,
  readBudget: true,
  spendBudget: true,
  setBudget: true,
  keepSessionFolder: true,
  createTenant: true,
  listTenants: true,
  findTenant: true,
  deleteTenant: true,
  createToken: true,
  findToken: true,
  listTokens: true,
  deleteToken: true,
  putSecret: true,
  listSecrets: true,
  deleteSecret: true,
  putProvider: true,
  listProviders: true,
  deleteProvider: true,
  readSettings: true,
  writeSettings: true,
  addKeyUses: true,
  holdsSealed: true,
  sealedUnderOtherKeys: true,
  resealCells: true,
  putAgentReport: true,
  listAgentReports: true,
  saveBlueprint: true,
  findBlueprint: true,
  listBlueprints: true,
  deleteBlueprint: true,
  saveRunHook: true,
  findRunHook: true,
  listRunHooks: true,
  deleteRunHook: true,
  createRun: true,
  findRun: true,
  findRunByKey: true,
  findRunOfExecutor: true,
  listRuns: true,
  findRunSession: true,
  listRunSessions: true,
  deleteRunSession: true,
  takeRun: true,
  extendPreparation: true,
  endPreparation: true,
  reportRun: true,
  stopRun: true,
  takeUnfinishedRuns: true,
  confirmFinish: true,
  registerRunner: true,
  findRunner: true,
  listRunners: true,
  keepRunner: true,
  markRunnerLeaving: true,
  removeRunner: true,
  stoppingSessions: true,
  expireRuns: true,
  requestApproval: true,
  answerApproval: true,
  endApproval: true,
  useApproval: true,
  findApproval: true,
  listApprovals: true,
  countPendingApprovals: true,
  endedApprovals: true,
  expireApprovals: true,
  revokeGrant: true,
  createApprovalLinks: true,
  findApprovalLink: true,
  listApprovalMessages: true,
  listApprovalAlerts: true,
  appendRunEvents: true,
  listRunEvents: true,
  tailRunEvents: true,
  listRules: true,
  findRule: true,
  createRule: true,
  updateRule: true,
  deleteRule: true,
  saveTeam: true,
  findTeam: true,
  listTeams: true,
  deleteTeam: true,
  saveEnvironment: true,
  findEnvironment: true,
  listEnvironments: true,
  deleteEnvironment: true,
  postMessages: true,
  listMailbox: true,
  findMessage: true,
  markRead: true,
  deleteMessage: true,
  fireRule: true,
  readWindows: true,
  findFiring: true,
  listFirings: true,
  startAction: true,
  endAction: true,
}
