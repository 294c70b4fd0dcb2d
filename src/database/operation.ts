import type { RawBuilder } from 'kysely'
import type { Projector } from '../history/stored/projector.ts'
import { type QueryBuilder, readNow, type SqlDatabase } from './sql-database.ts'

/** One call of an operation. */
export interface OperationCall {
  readonly db: SqlDatabase
  /** The time of the caller, for operations that are `timed`, or one that it gave. */
  readonly sentAt: number | undefined
  readonly journal: Projector
}

/** The transaction of an operation. */
export interface Tx {
  readonly db: SqlDatabase
  readonly trx: QueryBuilder
  /** The given time, that of the call, or the clock of the database, as an expression. */
  now(given?: number): RawBuilder<number>
  /** The same in milliseconds. */
  time(given?: number): Promise<number>
}

/** What an operation needs before it runs. */
interface Needs {
  /** It has windows. On SQLite the elapsed time of the only process measures them, not its wall clock. */
  readonly timed?: boolean
  /** Recorded events must be in rows: as many as a reader waits for, or all. */
  readonly journal?: 'soon' | 'whole'
}
export const timed: Needs = { timed: true }
export const afterJournal: Needs = { journal: 'soon' }
export const afterWholeJournal: Needs = { journal: 'whole' }

/** One atomic method of the store: plain data in and out, so that it can run in another thread or be retried. */
export interface Operation<Args extends readonly unknown[], Result> {
  readonly needs: Needs
  run(call: OperationCall, ...args: Args): Promise<Result>
}

/** The methods that operations are to their callers. */
export type MethodsOf<Operations> = {
  readonly [N in keyof Operations]: Operations[N] extends Operation<infer Args, infer Result>
    ? (...args: Args) => Promise<Result>
    : never
}

/** Runs as it likes; it begins its own transactions. */
export function operation<Args extends readonly unknown[], Result>(
  needs: Needs,
  run: (call: OperationCall, ...args: Args) => Promise<Result>,
): Operation<Args, Result> {
  return { needs, run }
}

type Work<Args extends readonly unknown[], Result> = (tx: Tx, ...args: Args) => Promise<Result>
type Owner = string | { readonly tenant_id: string }

/** One transaction of the tenant that the first argument names. */
export function inTenant<Args extends readonly [Owner, ...unknown[]], Result>(
  work: Work<Args, Result>,
  needs: Needs = {},
): Operation<Args, Result> {
  return operation(needs, (call, ...args) => inTenantOf(call, args[0], (tx) => work(tx, ...args)))
}

export function inTenantOf<Result>(
  call: OperationCall,
  owner: Owner,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  const tenant = typeof owner === 'string' ? owner : owner.tenant_id
  return call.db.tenant(tenant, (trx) => work(transactionOf(call, trx)))
}

type AndTime<Args extends readonly unknown[]> = readonly [...Args, now?: number]

/** The same at a time that the caller may give as a last argument. `work`, which has no optional parameters, finds it in `tx`. */
export function inTenantAt<Args extends readonly [Owner, ...unknown[]], Result>(
  work: Work<Args, Result>,
  needs: Needs = {},
): Operation<AndTime<Args>, Result> {
  return atGivenTime(inTenant(work, needs), work.length - 1)
}

function atGivenTime<Args extends readonly unknown[], Result>(
  { needs, run }: Operation<Args, Result>,
  count: number,
): Operation<AndTime<Args>, Result> {
  return operation(needs, (call, ...args) => {
    // Behind as many arguments as the work has.
    const own = args.slice(0, count) as unknown as Args
    return run(callAt(call, args[count] as number | undefined), ...own)
  })
}

/** The call at a time that its caller gave. */
export function callAt(call: OperationCall, now: number | undefined): OperationCall {
  return now === undefined ? call : { ...call, sentAt: now }
}

/** One transaction across tenants. */
export function inSystem<Args extends readonly unknown[], Result>(
  work: Work<Args, Result>,
  needs: Needs = {},
): Operation<Args, Result> {
  return operation(needs, (call, ...args) => inSystemOf(call, (tx) => work(tx, ...args)))
}

/** The same at a time that the caller may give, as in `inTenantAt`. */
export function inSystemAt<Args extends readonly unknown[], Result>(
  work: Work<Args, Result>,
  needs: Needs = {},
): Operation<AndTime<Args>, Result> {
  return atGivenTime(inSystem(work, needs), work.length - 1)
}

export function inSystemOf<Result>(call: OperationCall, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  return call.db.system((trx) => work(transactionOf(call, trx)))
}

/** One transaction across tenants that only reads, so that it waits for no writer. */
export function reading<Args extends readonly unknown[], Result>(
  work: Work<Args, Result>,
): Operation<Args, Result> {
  return operation({}, (call, ...args) => call.db.reading((trx) => work(transactionOf(call, trx), ...args)))
}

function transactionOf({ db, sentAt }: OperationCall, trx: QueryBuilder): Tx {
  return {
    db,
    trx,
    now: (given) => db.codec.now(given ?? sentAt),
    time: (given) => readNow(trx, db, given ?? sentAt),
  }
}
