import { MASTER_TENANT } from '../../access/tenant-tables.ts'
import { overBudgetText } from '../../approvals/approvals.ts'
import type { DeliveryWorker } from '../../deliveries/delivery-worker.ts'
import { errorText } from '../../engine/core/errors/error.ts'
import { after } from '../../engine/core/time/after.ts'
import type { Clock } from '../../engine/core/time/clock.ts'
import type { Edition } from '../../engine/core/values/edition.ts'
import { readExpiry } from '../../engine/guard/expiry.ts'
import { problemsLine, type StatusPart } from '../../methods/status-part.ts'
import type { Store } from '../../store/store.ts'
import { NO_FOLDER, usesHookFiles } from '../../stored-hooks/snapshots/event-folders.ts'
import type { Snapshots } from '../../stored-hooks/snapshots/snapshots.ts'
import type { GatewayStorage } from './storage/open-storage.ts'

/** A store without an answer by then counts as down; load balancers give up soon after. */
const PING_TIMEOUT_MS = 2_000

export function storeHealth(store: Pick<Store, 'ping' | 'dialect'>, clock: Clock): StatusPart {
  return async () => {
    try {
      await withTimeout(store.ping(), clock)
      return { name: 'store', state: 'ok', text: store.dialect }
    } catch (thrown) {
      return { name: 'store', state: 'bad', text: errorText(thrown) }
    }
  }
}

function withTimeout(pinged: Promise<void>, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const callOff = after(clock, PING_TIMEOUT_MS, () =>
      reject(new Error(`no answer for ${PING_TIMEOUT_MS} ms`)),
    )
    pinged.then(resolve, reject).finally(callOff)
  })
}

/** A hook that cannot be loaded fails at every event, so it must be visible here. */
export function hookHealth(snapshots: Snapshots, clock: Clock): StatusPart {
  return async (tenant) => {
    try {
      const { rows, broken } = await snapshots.of(tenant)
      const expired = [...rows.values()].filter(
        ({ expires_at }) => expires_at !== undefined && (readExpiry(expires_at) ?? 0) <= clock.now(),
      )
      const ended = expired.length === 0 ? '' : `, ${expired.length} expired`
      if (broken.size === 0) return { name: 'hooks', state: 'ok', text: `${rows.size} loaded${ended}` }
      const details = Object.fromEntries(broken)
      return {
        name: 'hooks',
        state: 'warn',
        text: `${broken.size} of ${rows.size} cannot be loaded`,
        details,
      }
    } catch (thrown) {
      return { name: 'hooks', state: 'bad', text: `cannot be loaded: ${errorText(thrown)}` }
    }
  }
}

/**
 * Every hook file that is not in use as it is written must be visible here. The standard edition and the demo read no
 * hook files.
 */
export function fileHealth(snapshots: Snapshots, edition: Edition): StatusPart {
  const name = 'hook files'
  return async (tenant) => {
    if (!usesHookFiles(tenant, edition))
      return { name, state: 'ok', text: `not used in ${edition === 'lite' ? 'the demo' : 'this edition'}` }
    try {
      await snapshots.of(tenant, NO_FOLDER)
    } catch (thrown) {
      // The files of the administrator and the user belong to every event, so all gates block.
      const text = `gates block: ${errorText(thrown)}`
      return { name, state: 'bad', text, details: { problems: [errorText(thrown)] } }
    }
    const problems = (await snapshots.fileNotices(tenant)).map(({ text }) => text)
    return problemsLine(name, problems, 'all valid')
  }
}

export function deliveryHealth(worker: Pick<DeliveryWorker, 'failure' | 'busy'>): StatusPart {
  return () => {
    const failure = worker.failure()
    if (failure !== undefined) return { name: 'deliveries', state: 'bad', text: failure }
    return { name: 'deliveries', state: 'ok', text: `${worker.busy()} in progress` }
  }
}

const HOUR_MS = 3_600_000

/** Shows who asked people too often, and routes that cannot work. */
export function approvalHealth(
  { store, settings }: Pick<GatewayStorage, 'store' | 'settings'>,
  ownUrl: () => string | undefined,
): StatusPart {
  const name = 'approvals'
  return async (tenant) => {
    const alerts = await store.listApprovalAlerts(tenant, HOUR_MS).catch(errorText)
    if (typeof alerts === 'string') return { name, state: 'warn', text: alerts }
    const { approval_routes = [] } = settings.of(tenant)
    const { smtp, public_url } = settings.of(MASTER_TENANT)
    const isLocal = public_url === undefined && /\/\/(127\.|\[::1\]|localhost)/.test(ownUrl() ?? '')
    const problems = [
      ...alerts.map((alert) => `${overBudgetText(alert)} (${alert.refused} so far)`),
      ...(smtp === undefined && approval_routes.some(({ to }) => to.type === 'email')
        ? ['a route sends mail, and no mail server is configured: set `smtp`']
        : []),
      ...(isLocal && approval_routes.length > 0
        ? ['links in messages open on this machine only: set `public_url`']
        : []),
    ]
    return problemsLine(name, problems, describeRoutes(approval_routes.length), { alerts })
  }
}

function describeRoutes(count: number): string {
  const also = count === 0 ? '' : `, and ${count} ${count === 1 ? 'route' : 'routes'}`
  return `asked in the web app and the command line${also}`
}
