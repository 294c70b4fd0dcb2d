import { resolve } from 'node:path'
import { type Local, openLocal } from '../../app/local.ts'
import { printMessage } from '../output.ts'

/** Opens the hooks of a directory and a call for `use`, and closes them when it returns or throws. */
export async function withLocalHooks<T>(
  { cwd = '.', call }: { readonly cwd?: string | undefined; readonly call?: unknown },
  use: (local: Local) => Promise<T> | T,
): Promise<T> {
  const local = await openLocal({ cwd: resolve(cwd), call, log: printWarning })
  try {
    return await use(local)
  } finally {
    await local.close()
  }
}

function printWarning(name: string, fields: Readonly<Record<string, unknown>>): void {
  if (name === 'trust.needed') printMessage(String(fields.text))
  else if (name.startsWith('security.')) printMessage(`${name} ${JSON.stringify(fields)}`)
}
