import { isRecord } from '../../engine/core/check.ts'
import type { Clock } from '../../engine/core/clock.ts'
import { isHookError } from '../../engine/core/error.ts'
import type { Log } from '../../engine/core/sink.ts'
import type { Store } from '../../store/store.ts'
import type { HookRow, NewHook } from '../../store/stores/hook-store.ts'
import { MASTER_TENANT } from '../../store/stores/tenant-store.ts'
import { type Builtin, builtinId } from './builtin.ts'
import { piiRedactor } from './pii-redactor.ts'

const shipped: readonly Builtin[] = [piiRedactor]

interface Seeding {
  readonly store: Pick<Store, 'findHook' | 'createHook' | 'updateHook'>
  readonly clock: Clock
  readonly log: Log
}

/** Brings the builtin hooks of this version into the database; whether one is on stays as it was decided there. */
export async function seedBuiltins(seeding: Seeding, builtins: readonly Builtin[] = shipped): Promise<void> {
  for (const builtin of builtins) {
    for (const event of builtin.events) await seedOne(seeding, builtin, event)
  }
}

async function seedOne({ store, clock, log }: Seeding, builtin: Builtin, event: string): Promise<void> {
  const wanted = rowOf(builtin, event)
  const found = await store.findHook(MASTER_TENANT, wanted.id)
  if (found === undefined) {
    await created(() => store.createHook(wanted, clock.now()))
    return
  }
  const stored = versionOf(found)
  if (stored > builtin.version)
    log('gateway.builtin_newer', { builtin: builtin.name, event, stored, ours: builtin.version })
  if (stored >= builtin.version) return
  const { tenant_id: _, source: __, created_by: ___, ...definition } = wanted
  // Another node that starts now writes the same.
  await store.updateHook(
    MASTER_TENANT,
    wanted.id,
    { version: found.version, hook: { ...definition, enabled: found.enabled } },
    clock.now(),
  )
}

function rowOf({ name, version, hook, source, isOnByDefault }: Builtin, event: string): NewHook {
  return {
    ...hook,
    id: builtinId(name, event),
    tenant_id: MASTER_TENANT,
    name,
    event,
    scope: 'global',
    agent_ids: [],
    enabled: isOnByDefault,
    config: { source, version },
    source: 'builtin',
    created_by: null,
  }
}

/** The version of the content; that of the row also counts how often it was switched. */
function versionOf({ config }: HookRow): number {
  return isRecord(config) && typeof config.version === 'number' ? config.version : 0
}

async function created(create: () => Promise<unknown>): Promise<void> {
  try {
    await create()
  } catch (error) {
    // Another node started at the same moment.
    if (!isHookError(error) || error.code !== 'store.taken') throw error
  }
}
