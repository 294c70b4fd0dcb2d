import { sql } from 'kysely'
import { isEncrypted } from '../../../safe/secret.ts'
import { hookConfigPlace } from '../../places.ts'
import type { SealedCell } from '../../stores/vault-store.ts'
import type { Db, Query } from '../database.ts'
import { bumpVersions } from '../definition-version.ts'
import { isUuid } from '../uuid.ts'
import { textsOf, withText } from './config-cells.ts'

/** Sealed texts inside the configs of hooks, of which there are few compared with what is recorded. */
export async function configCells(
  { codec }: Db,
  trx: Query,
  { otherThan, after, limit }: { otherThan: string; after: SealedCell | undefined; limit: number },
): Promise<readonly SealedCell[]> {
  const from = after?.table === 'agent_hooks' && isUuid(after.row) ? after : undefined
  const hooks = await trx
    .selectFrom('agent_hooks')
    .select(['id', 'config'])
    .where(sql<boolean>`cast(config as text) like '%aes-gcm:%'`)
    .$if(from !== undefined, (query) => query.where('id', '>=', from?.row ?? ''))
    .orderBy('id')
    .execute()
  const cells = hooks.flatMap(({ id, config }) =>
    [...textsOf(codec.readJson(config))]
      .filter(({ text }) => isEncrypted(text) && (otherThan === '' || !text.startsWith(otherThan)))
      .map(({ pointer, text }) => ({ ...hookConfigPlace(id, pointer), sealed: text }))
      .sort((a, b) => (a.column < b.column ? -1 : 1)),
  )
  const behind = cells.filter(
    (cell) => from === undefined || cell.row > from.row || cell.column > from.column,
  )
  return behind.slice(0, limit)
}

/** Nodes get to know the new text like any change of a definition; the version of the hook stays, as it does the same. */
export async function resealConfig(db: Db, trx: Query, cell: SealedCell, sealed: string): Promise<boolean> {
  if (cell.table !== 'agent_hooks' || !isUuid(cell.row)) return false
  const hook = await trx
    .selectFrom('agent_hooks')
    .select(['tenant_id', 'config', 'version'])
    .where('id', '=', cell.row)
    .executeTakeFirst()
  if (hook === undefined) return false
  const config = db.codec.readJson(hook.config)
  const pointer = cell.column.slice('config'.length)
  const found = [...textsOf(config)].some((text) => text.pointer === pointer && text.text === cell.sealed)
  if (!found) return false
  const updated = await trx
    .updateTable('agent_hooks')
    .set({ config: db.codec.json(withText(config, pointer, sealed)) })
    .where('id', '=', cell.row)
    .where('version', '=', hook.version)
    .returning('id')
    .executeTakeFirst()
  if (updated === undefined) return false
  await bumpVersions(trx, db.codec, [hook.tenant_id])
  return true
}
