import { serverError } from '../../../engine/core/server-errors.ts'
import { chainKeyPlace } from '../../places.ts'
import type { AuditStore } from '../../stores/audit-store.ts'
import type { Db } from '../database.ts'
import { isTaken } from '../taken.ts'
import { FIRST_LINK, type Links, linksOf, newChain, placeMac } from './audit-chain.ts'
import { sealGroup } from './seal-group.ts'

const TRIES = 5

/** Groups are written one after the other: each links to the one before. */
export function recorder(
  db: Db,
  countSealed: (texts: number) => Promise<void>,
): Pick<AuditStore, 'recordEvents'> {
  let links: Links | undefined
  let last: Promise<unknown> = Promise.resolve()

  const write = async (...group: Parameters<AuditStore['recordEvents']>) => {
    const sealed = sealGroup(db.secrets, ...group)
    // While a group is under way nobody knows whether it will have been written; if it fails, a new chain begins.
    const current = links ?? (await openChain(db))
    links = undefined
    await db.byHand.writeGroup({ ...sealed, links: current })
    links = current
    // The group is written; a count that could not be is written with the next one.
    await countSealed(2 * sealed.events.length + sealed.deliveries.length).catch(() => {})
  }
  return {
    recordEvents(...group) {
      const written = last.then(() => write(...group))
      last = written.catch(() => {})
      return written
    },
  }
}

/** Another node may open one at the same moment and take the ordinal. */
async function openChain(db: Db): Promise<Links> {
  for (let tries = 1; ; tries++) {
    try {
      return await insertChain(db)
    } catch (error) {
      if (!isTaken(error)) throw error
      if (tries === TRIES) throw serverError('store.unavailable', 'no audit chain could be opened')
    }
  }
}

async function insertChain(db: Db): Promise<Links> {
  const { chain, key } = newChain()
  const links = linksOf(chain, key, { seq: 0, link: FIRST_LINK })
  await db.system(async (trx) => {
    const { last } = await trx
      .selectFrom('audit_chains')
      .select((eb) => eb.fn.max('ordinal').as('last'))
      .executeTakeFirstOrThrow()
    const ordinal = (last ?? 0) + 1
    await trx
      .insertInto('audit_chains')
      .values({
        chain,
        ordinal,
        sealed_key: db.secrets.encrypt(key, chainKeyPlace(chain)),
        base_seq: 0,
        base_link: FIRST_LINK,
        base_mac: placeMac(key, 'base', [chain, ordinal, 0], FIRST_LINK),
        head_seq: 0,
        head_link: FIRST_LINK,
        head_mac: links.headMac(),
      })
      .execute()
  })
  return links
}
