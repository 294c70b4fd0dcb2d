import { v5 } from 'uuid'
import { MASTER_TENANT } from '../../access/tenant-tables.ts'
import { isHookError } from '../../engine/core/errors/error.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import type { Clock } from '../../engine/core/time/clock.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import type { Store } from '../../store/store.ts'
import type { HookRow, NewHook } from '../hook-tables.ts'
import { piiRedactor } from './pii-redactor.ts'

/** A hook that Hookhelm ships: one row per event, with an id that is the same in every database. */
export interface Builtin {
  readonly name: string
  /** Raised with every change of the content. */
  readonly version: number
  readonly events: readonly string[]
  readonly isOnByDefault: boolean
  readonly hook: Pick<HookDefinition, 'description' | 'timeout_ms' | 'on_timeout'> & {
    readonly handler_type: 'script'
    readonly priority: number
  }
  readonly source: string
}

const NAMESPACE = '082ab084-a25f-52b4-a4a4-eb8a816bd9a8'

export function builtinId(name: string, event: string): string {
  return v5(`${name}/${event}`, NAMESPACE)
}

const shipped: readonly Builtin[] = [piiRedactor]

interface Seeding {
  readonly store: Pick<Store, 'findHook' | 'createHook' | 'updateHook'>
  readonly clock: Clock
  readonly log: Log
}

/** Writes the builtin hooks of this version to the database. A builtin that exists keeps its enabled state. */
export async function seedBuiltins(seeding: Seeding, builtins: readonly Builtin[] = shipped): Promise<void> {
  for (const builtin of builtins) {
    for (const event of builtin.events) await seedOne(seeding, builtin, event)
  }
}

async function seedOne({ store, clock, log }: Seeding, builtin: Builtin, event: string): Promise<void> {
  const wanted = rowOf(builtin, event)
  const found = await store.findHook(MASTER_TENANT, wanted.id)
  if (found === undefined) {
    await createOrIgnore(() => store.createHook(wanted, clock.now()))
    return
  }
  const stored = versionOf(found)
  if (stored > builtin.version)
    log('gateway.builtin_newer', { builtin: builtin.name, event, stored, ours: builtin.version })
  if (stored >= builtin.version) return
  const { tenant_id: _, source: __, created_by: ___, ...definition } = wanted
  // A conflict is harmless: another node that starts now writes the same content.
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

/** The version of the content. The version of the row also counts toggles. */
function versionOf({ config }: HookRow): number {
  return isRecord(config) && typeof config.version === 'number' ? config.version : 0
}

async function createOrIgnore(create: () => Promise<unknown>): Promise<void> {
  try {
    await create()
  } catch (error) {
    // Another node created it at the same time.
    if (!isHookError(error) || error.code !== 'store.taken') throw error
  }
}
