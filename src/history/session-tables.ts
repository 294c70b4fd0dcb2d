import { columns, table } from '../database/table.ts'

const { id, number, text } = columns

/** The folder in which a session of a coding agent began: `cd` and a restart of the gateway do not change its hooks. */
export const sessionFolders = table(
  'session_folders',
  {
    tenant_id: id(),
    /** A digest: ids of agents may have any length. */
    session: text(),
    folder: text(),
    last_at: number(),
  },
  {
    key: ['tenant_id', 'session'],
    isKeyed: true,
    indexes: ['session_folders_by_time (last_at)'],
    expiry: [{ where: 'last_at < :before', order: 'last_at', keep: 'history' }],
  },
)
