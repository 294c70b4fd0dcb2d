import type { Selectable } from 'kysely'
import { isHookError } from '../../../engine/core/error.ts'
import { chainKeyPlace } from '../../places.ts'
import type { Db, Query } from '../database.ts'
import type { Tables } from '../tables.ts'
import { placeMac } from './audit-chain.ts'

export type ChainRow = Selectable<Tables['audit_chains']>

export function listChains(trx: Query): Promise<ChainRow[]> {
  return trx.selectFrom('audit_chains').selectAll().orderBy('ordinal').execute()
}

/** The key that links a chain; undefined when no key of ours opens it. */
export function chainKey({ secrets }: Db, row: Pick<ChainRow, 'chain' | 'sealed_key'>): string | undefined {
  try {
    return secrets.decrypt(row.sealed_key, chainKeyPlace(row.chain))
  } catch (error) {
    if (isHookError(error)) return undefined
    throw error
  }
}

export function baseMac(key: string, row: Pick<ChainRow, 'chain' | 'ordinal' | 'base_seq' | 'base_link'>) {
  return placeMac(key, 'base', [row.chain, row.ordinal, row.base_seq], row.base_link)
}

export function headMac(key: string, row: Pick<ChainRow, 'chain' | 'head_seq' | 'head_link'>) {
  return placeMac(key, 'head', [row.chain, row.head_seq], row.head_link)
}

export function gapMac(key: string, row: Omit<Selectable<Tables['audit_gaps']>, 'mac'>) {
  return placeMac(key, 'gap', [row.chain, row.from_seq, row.to_seq], row.link)
}
