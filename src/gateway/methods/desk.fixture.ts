import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Edition } from '../../engine/core/edition.ts'
import type { Handler } from '../../engine/core/handler.ts'
import { commandHandler } from '../../handlers/command/command.ts'
import { httpHandler } from '../../handlers/http/http.ts'
import { promptHandler } from '../../handlers/prompt/prompt.ts'
import { scriptHandler } from '../../handlers/script/script.ts'
import { createSecrets, type Keyring } from '../../safe/secret.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../store/store.ts'
import { type FakeClock, fakeClock } from '../../testing/fake-clock.ts'
import { recorder } from '../../testing/recorder.ts'
import type { Caller } from '../auth/caller.ts'
import { callMethod } from '../call-method.ts'
import { secretOpener } from '../hooks/secret-opener.ts'
import type { GatewayParts } from '../parts.ts'
import { cacheSettings } from '../settings-cache.ts'
import { findMethod, type Methods } from './table.ts'

export const ACME = '11111111-1111-4111-8111-111111111111'
export const GLOBEX = '22222222-2222-4222-8222-222222222222'

export const admin: Caller = { tenant: ACME, role: 'admin', master: false, name: 'ada', agentId: undefined }
export const stranger: Caller = { ...admin, tenant: GLOBEX, name: 'hank' }
export const master: Caller = { ...admin, role: 'owner', master: true, name: 'root' }

const keyring: Keyring = { current: { id: 'k1', key: Buffer.alloc(32, 7) } }

/** A gateway without doors: the methods, a real database, and real handlers. */
export interface Desk {
  readonly parts: GatewayParts
  readonly store: Store
  /** The database itself, for tests that look past the store. */
  readonly file: string
  readonly clock: FakeClock
  /** Tenants whose definitions were said to have changed. */
  readonly changed: string[]
  call<Name extends keyof Methods>(
    name: Name,
    params: unknown,
    caller?: Caller,
    parts?: Partial<GatewayParts>,
  ): Promise<Methods[Name]['result']>
  close(): Promise<void>
}

export async function openDesk({ edition = 'lite' }: { edition?: Edition } = {}): Promise<Desk> {
  const folder = mkdtempSync(join(tmpdir(), 'hookhelm-methods-'))
  const file = join(folder, 'hookhelm.db')
  const store = await openSqliteStore({ file, keyring })
  const clock = fakeClock()
  for (const [id, name] of [
    [ACME, 'acme'],
    [GLOBEX, 'globex'],
  ] as const)
    await store.createTenant({ id, name, created_at: clock.now() })
  const secrets = createSecrets(keyring)
  const command = commandHandler.create({ showsOutput: true })
  const http = httpHandler.create({
    outbound: { allow: ['127.0.0.1'] },
    decrypt: secretOpener(store, secrets),
  })
  const script = scriptHandler.create({})
  const prompt = promptHandler.create({ models: { find: () => Promise.reject(new Error('no model')) } })
  const handlers: readonly Handler[] = [command, http, script, prompt]
  const changed: string[] = []
  const parts: GatewayParts = {
    store,
    dispatcher: { dispatch: () => Promise.reject(new Error('no dispatch in these tests')) },
    agents: { ask: () => Promise.reject(new Error('no agents in these tests')) },
    secrets,
    settings: await cacheSettings(store, {}),
    edition,
    defaultTenant: ACME,
    handlers,
    dryHandlers: handlers,
    host: {},
    changed: async (tenant) => {
      changed.push(tenant)
    },
    forgetTokens: () => changed.push('tokens'),
    onRecorded: () => () => {},
    wakeDeliveries: () => changed.push('deliveries'),
    status: [() => ({ name: 'store', state: 'ok', text: 'answers' })],
    clock,
    log: recorder().log,
    version: '0.0.0-test',
  }
  return {
    parts,
    store,
    file,
    clock,
    changed,
    async call(name, params, caller = admin, others = {}) {
      const row = findMethod(name)
      if (row === undefined) throw new Error(`no method ${name}`)
      return callMethod(row, params, { caller, parts: { ...parts, ...others } }) as never
    },
    async close() {
      await Promise.all([command.dispose(), http.dispose(), script.dispose()])
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A hook that everybody can make. */
export const guard = {
  event: 'pre_tool_use',
  handler_type: 'http',
  scope: 'tenant',
  name: 'Safety webhook',
  matcher: '^exec$',
  config: { url: 'https://safety.example/check' },
}
