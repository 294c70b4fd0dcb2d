import type { Clock } from '../../engine/core/clock.ts'
import { type Edition, runsCommands } from '../../engine/core/edition.ts'
import type { Log } from '../../engine/core/sink.ts'
import type { Store } from '../../store/store.ts'

/** A database that served one person may hold commands; several tenants must not inherit them. */
export async function disableCommands(
  store: Pick<Store, 'disableHandlerTypes'>,
  edition: Edition,
  { clock, log }: { clock: Clock; log: Log },
): Promise<void> {
  if (runsCommands(edition)) return
  const disabled = await store.disableHandlerTypes(['command'], 'edition', clock.now())
  if (disabled > 0) log('hooks.command_hook_auto_disabled', { hooks: disabled })
  log('hooks.command_migration_complete', { hooks: disabled })
}
