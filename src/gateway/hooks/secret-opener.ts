import { handlerError } from '../../engine/core/handler-errors.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import { type Secrets, secretName } from '../../safe/secret.ts'
import { secretPath } from '../../store/paths.ts'
import type { Store } from '../../store/store.ts'
import { MASTER_TENANT } from '../../store/stores/tenant-store.ts'
import { sealedPathOf } from './config-secrets.ts'

/** Decrypts the secrets in the config of an http hook: its own values, and secrets of the tenant by name. */
export function secretOpener(store: Pick<Store, 'listSecrets'>, secrets: Secrets) {
  return async (value: string, hook: HookDefinition, tenant: string | undefined): Promise<string> => {
    const name = secretName(value)
    if (name !== undefined) return byName(name, hook.scope === 'global' ? MASTER_TENANT : tenant)
    const path = sealedPathOf(hook.id ?? '', hook.config, value)
    if (path === undefined)
      throw handlerError('secret.unreadable', 'an encrypted value stands where no secret may stand')
    return secrets.decrypt(value, path)
  }

  async function byName(name: string, tenant = ''): Promise<string> {
    const row = (await store.listSecrets(tenant)).find((known) => known.name === name)
    if (row === undefined)
      throw handlerError('secret.unreadable', `there is no secret ${name}`, {
        hint: `Set it with \`hookhelm secrets set ${name}\`.`,
      })
    return secrets.decrypt(row.sealed, secretPath(tenant, name))
  }
}
