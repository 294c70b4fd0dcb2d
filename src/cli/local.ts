import { resolve } from 'node:path'
import { type Local, openLocal } from '../app/local.ts'
import { tell } from './output.ts'

/** Opens the hooks of a directory, does something with them, and closes them whatever happens. */
export async function withLocal<T>(
  args: { cwd?: string | undefined },
  use: (local: Local) => Promise<T> | T,
): Promise<T> {
  const local = await openLocal({ cwd: resolve(args.cwd ?? '.'), log: warn })
  try {
    return await use(local)
  } finally {
    await local.close()
  }
}

/** What a person should know while it happens; the rest is in the answer. */
function warn(name: string, fields: Readonly<Record<string, unknown>>): void {
  if (name === 'trust.needed') tell(`inert until you trust it: ${String(fields.file)} (hookhelm trust)`)
  else if (name.startsWith('security.')) tell(`${name} ${JSON.stringify(fields)}`)
}
