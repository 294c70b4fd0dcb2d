import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Caller, callerWithoutToken } from '../../src/access/caller.ts'
import { Approvals } from '../../src/approvals/approvals.ts'
import type { Handler } from '../../src/engine/core/handler.ts'
import type { Edition } from '../../src/engine/core/values/edition.ts'
import { createHooks } from '../../src/engine/dispatch/hooks.ts'
import { callMethod } from '../../src/gateway/doors/call-method.ts'
import { findMethod, type Methods } from '../../src/gateway/methods.ts'
import { commandHandler } from '../../src/handlers/command/command.ts'
import { httpHandler } from '../../src/handlers/http/http.ts'
import { promptHandler } from '../../src/handlers/prompt/prompt.ts'
import { scriptHandler } from '../../src/handlers/script/script.ts'
import type { MethodParts } from '../../src/methods/method-parts.ts'
import { createTenantRules } from '../../src/rules/tenant-rules.ts'
import { createRunProofs } from '../../src/runs/coding-agents/run-proof.ts'
import { Coordinator } from '../../src/runs/coordinator.ts'
import { createSecrets, type Keyring } from '../../src/safe/secrets/secret.ts'
import { secretOpener } from '../../src/secrets/config-secrets.ts'
import { cacheSettings } from '../../src/settings/settings.ts'
import { analyzeShell } from '../../src/shell/analyze-shell.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import { createNodeChanges } from '../../src/stored-hooks/snapshots/node-changes.ts'
import { Snapshots } from '../../src/stored-hooks/snapshots/snapshots.ts'
import { type FakeClock, fakeClock } from '../../src/testing/fake-clock.ts'
import { memoryTokenBudget } from '../memory-token-budget.fixture.ts'

export const ACME = '11111111-1111-4111-8111-111111111111'
export const GLOBEX = '22222222-2222-4222-8222-222222222222'

export const admin = callerWithoutToken(ACME, 'ada', 'admin')
export const otherAdmin: Caller = { ...admin, tenant: GLOBEX, name: 'hank' }
export const master: Caller = { ...admin, role: 'owner', master: true, name: 'root' }

const keyring: Keyring = { current: { id: 'k1', key: Buffer.alloc(32, 7) } }

/** The methods on a real database with real handlers, without a server. */
export interface TestMethods {
  readonly parts: MethodParts
  readonly store: Store
  /** The database file, for tests that read it directly. */
  readonly file: string
  readonly clock: FakeClock
  /** Tenants whose definitions changed, `tokens` and `deliveries`, in the order of the notifications. */
  readonly changed: string[]
  call<Name extends keyof Methods>(
    name: Name,
    params: unknown,
    caller?: Caller,
    parts?: Partial<MethodParts>,
  ): Promise<Methods[Name]['result']>
  close(): Promise<void>
}

export async function openTestMethods({
  edition = 'lite',
}: {
  edition?: Edition
} = {}): Promise<TestMethods> {
  const folder = mkdtempSync(join(tmpdir(), 'hookhelm-methods-'))
  const file = join(folder, 'hookhelm.db')
  const clock = fakeClock()
  const store = await openSqliteStore({ file, keyring, clock })
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
  const settings = await cacheSettings(store, {})
  const parts: MethodParts = {
    store,
    secrets,
    settings,
    edition,
    defaultTenant: ACME,
    handlers,
    dryHandlers: handlers,
    shell: analyzeShell,
    host: {},
    changed: async (tenant) => {
      changed.push(tenant)
    },
    // Loaded for each call: nobody tells these methods that a definition changed.
    async hooksInForce(tenant) {
      const snapshots = new Snapshots({ store, settings, makeHooks: () => createHooks({ handlers }) })
      return { snapshot: await snapshots.of(tenant), problem: '', files: [] }
    },
    hookFolders: () => [],
    forgetTokens: () => changed.push('tokens'),
    onRecorded: () => () => {},
    nodeChanges: createNodeChanges(),
    wakeDeliveries: () => changed.push('deliveries'),
    runs: new Coordinator({
      ...{ store, edition, clock, log: () => {} },
      dispatch: async () => ({ kind: 'allow' }),
      needsHooks: async () => [],
      proofs: createRunProofs(secrets),
      budget: memoryTokenBudget({ clock }),
      hasHooks: async () => false,
      toolCallAgents: async () => [],
    }),
    approvals: new Approvals({
      ...{ store, clock, log: () => {} },
      steps: { record: async () => {} },
      changed: () => {},
      wakeDeliveries: () => {},
    }),
    rules: createTenantRules({ store, maxChainDepthOf: () => undefined }),
    demo: { play: async () => true, remove: async () => true },
    status: [() => ({ name: 'store', state: 'ok', text: 'answers' })],
    clock,
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
      await parts.runs.close()
      await Promise.all([command.dispose(), http.dispose(), script.dispose()])
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A valid hook. */
export const guard = {
  event: 'pre_tool_use',
  handler_type: 'http',
  scope: 'tenant',
  name: 'Safety webhook',
  matcher: '^exec$',
  config: { url: 'https://safety.example/check' },
}
