import { inTenantAt, timed } from '../database/operation.ts'
import { insert, update } from '../database/rows.ts'
import { sessionFolders } from './session-tables.ts'

export const sessionOperations = {
  /** Returns the folder in which a session began, and stores `folder` if the session is new. Undefined if both are unknown. */
  keepSessionFolder: inTenantAt(
    async (tx, tenant_id: string, session: string, folder: string | undefined) => {
      const last_at = tx.now()
      const [known] = await update(tx, sessionFolders, { tenant_id, session }, { last_at })
      if (known !== undefined || folder === undefined) return known?.folder
      // Another node may have stored its folder since.
      const row = { tenant_id, session, folder, last_at }
      return (await insert(tx, sessionFolders, row, { last_at }))?.folder
    },
    timed,
  ),
}
