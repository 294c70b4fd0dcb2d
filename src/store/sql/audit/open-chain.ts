import { serverError } from '../../../engine/core/server-errors.ts'
import { chainKeyPlace } from '../../places.ts'
import type { Db } from '../database.ts'
import { isTaken } from '../taken.ts'
import { FIRST_LINK, type Links, linksOf, newChain, placeMac } from './audit-chain.ts'

const TRIES = 5

/** Another node may open one at the same moment and take the ordinal. */
export async function openChain(db: Db): Promise<Links> {
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
