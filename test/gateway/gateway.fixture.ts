import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { MASTER_TENANT, OWNER_MEMBER, type TenantRow, type TokenRow } from '../../src/access/tenant-tables.ts'
import { Tokens } from '../../src/access/tokens.ts'
import { nonEmpty, numeric } from '../../src/engine/core/schema/more-schemas.ts'
import { schema } from '../../src/engine/core/schema/schema.ts'
import type { Clock } from '../../src/engine/core/time/clock.ts'
import { systemClock } from '../../src/engine/core/time/clock.ts'
import { createHooks } from '../../src/engine/dispatch/hooks.ts'
import { AgentDoor } from '../../src/gateway/agents/agent-door.ts'
import type { Dispatcher } from '../../src/gateway/dispatch.ts'
import { methodTable } from '../../src/gateway/doors/call-method.ts'
import { createCapacity } from '../../src/gateway/doors/capacity.ts'
import type { Door } from '../../src/gateway/doors/door.ts'
import { createGatewayServer, type GatewayServer } from '../../src/gateway/doors/http/gateway-server.ts'
import type { ConnectionLimits } from '../../src/gateway/doors/http/http-server.ts'
import type { ExecutionRow } from '../../src/history/audit-tables.ts'
import { executionMethods } from '../../src/history/methods/execution-methods.ts'
import { defineCall, defineSubscription, type Method } from '../../src/methods/method.ts'
import type { MethodParts } from '../../src/methods/method-parts.ts'
import type { StatusPart } from '../../src/methods/status-part.ts'
import { hashToken, newToken } from '../../src/safe/secrets/token.ts'
import { defaultSettings, type SettingsInForce } from '../../src/settings/settings.ts'
import type { Store } from '../../src/store/store.ts'
import type { FakeClock } from '../../src/testing/fake-clock.ts'

export const OWN_TENANT = 'tenant-a'
export const OTHER_TENANT = 'tenant-b'

/** Tenants, tokens and executions in memory: what the doors ask of a store. */
class FakeStore {
  readonly tenants: TenantRow[] = [
    { id: OWN_TENANT, name: 'acme', created_at: 0 },
    { id: OTHER_TENANT, name: 'globex', created_at: 0 },
  ]
  readonly tokens = new Map<string, TokenRow>()
  readonly executions: ExecutionRow[] = []
  tokenLookups = 0

  addToken(row: Partial<TokenRow>): string {
    const token = newToken()
    this.tokens.set(hashToken(token).toString('hex'), {
      id: token,
      member_id: OWNER_MEMBER,
      tenant_id: OWN_TENANT,
      name: 'test',
      role: 'owner',
      agent_id: null,
      created_at: 0,
      expires_at: null,
      ...row,
    })
    return token
  }

  revoke(token: string): void {
    this.tokens.delete(hashToken(token).toString('hex'))
  }

  async findToken(hash: Uint8Array): Promise<TokenRow | undefined> {
    this.tokenLookups += 1
    return this.tokens.get(Buffer.from(hash).toString('hex'))
  }

  async findTenant(idOrName: string): Promise<TenantRow | undefined> {
    return this.tenants.find(({ id, name }) => id === idOrName || name === idOrName)
  }

  /** It stores no hooks, so executions have no names of hooks. */
  async findHook(): Promise<undefined> {
    return undefined
  }

  async tail(tenant: string, cursor: string | undefined, limit: number) {
    const all = this.executions.filter((row) => row.tenant_id === tenant)
    if (cursor === undefined) return { rows: [], nextCursor: String(all.length) }
    const rows = all.slice(Number(cursor), Number(cursor) + limit)
    return { rows, nextCursor: String(Number(cursor) + rows.length) }
  }
}

export interface GatewayFixtureOptions {
  readonly clock?: Clock
  /** Any free one if omitted. */
  readonly port?: number
  /** An empty one if omitted. */
  readonly store?: FakeStore
  readonly dispatcher?: Dispatcher
  readonly methods?: readonly Method[]
  readonly settings?: Partial<SettingsInForce>
  readonly status?: readonly StatusPart[]
  readonly maxInFlight?: number
  readonly hosts?: readonly string[]
  readonly origins?: readonly string[]
  readonly ui?: string
  readonly limits?: Partial<ConnectionLimits>
}

export interface GatewayFixture {
  readonly url: string
  readonly port: number
  readonly host: string
  readonly server: GatewayServer
  readonly door: Door
  readonly store: FakeStore
  /** Of the own tenant, with the role owner. */
  readonly token: string
  readonly logged: { readonly name: string; readonly fields: Readonly<Record<string, unknown>> }[]
  /** Executions were written. */
  recorded(): void
  dispatch(body: unknown, init?: RequestInit): Promise<Response>
  get(path: string, init?: RequestInit): Promise<Response>
}

/** The doors of a gateway on a free port of loopback, with a fake behind each interface. */
export async function startGateway(options: GatewayFixtureOptions = {}): Promise<GatewayFixture> {
  const made = makeDoor(options)
  const { hosts, origins, ui, limits } = options
  const server = createGatewayServer({
    door: made.door,
    listen: [{ host: '127.0.0.1', port: options.port ?? 0 }],
    ...(hosts === undefined ? {} : { hosts }),
    ...(origins === undefined ? {} : { origins }),
    ...(ui === undefined ? {} : { ui }),
    ...(limits === undefined ? {} : { limits }),
  })
  const [address] = await server.listen()
  const port = address?.port ?? 0
  onTestFinished(() => closeNow((ms) => server.close(ms), options.clock))
  const url = `http://127.0.0.1:${port}`
  const headers = { authorization: `Bearer ${made.token}` }
  return {
    ...made,
    url,
    port,
    host: `127.0.0.1:${port}`,
    server,
    dispatch: (body, init = {}) =>
      fetch(`${url}/v1/dispatch`, {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...init,
        headers: { ...headers, 'content-type': 'application/json', ...init.headers },
      }),
    get: (path, init = {}) =>
      fetch(`${url}${path}`, { redirect: 'manual', ...init, headers: { ...headers, ...init.headers } }),
  }
}

/** A fake clock does not advance by itself, so the grace period would never end. */
export async function closeNow(close: (graceMs: number) => Promise<void>, clock?: Clock): Promise<void> {
  const closed = close(1)
  if (clock !== undefined && 'advance' in clock) await (clock as FakeClock).advance(1)
  await closed
}

export function makeDoor(options: GatewayFixtureOptions = {}) {
  const store = options.store ?? new FakeStore()
  const listeners = new Set<() => void>()
  const logged: { name: string; fields: Readonly<Record<string, unknown>> }[] = []
  const clock = options.clock ?? systemClock
  const log = (name: string, fields: Readonly<Record<string, unknown>>) => logged.push({ name, fields })
  const dispatcher = options.dispatcher ?? engineDispatcher()
  const settings = { of: () => ({ ...defaultSettings, ...options.settings }), reload: async () => {} }
  const parts = {
    store: store as unknown as Store,
    edition: 'lite',
    settings,
    defaultTenant: OWN_TENANT,
    onRecorded(listener: () => void) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    status: options.status ?? [],
    clock,
    version: '0.0.0-test',
  } as unknown as MethodParts
  const { maxInFlight } = options
  const door: Door = {
    dispatcher,
    agents: new AgentDoor({
      dispatcher,
      sessionFolders: { startOf: async (_, folder) => folder },
      clock,
      log,
    }),
    methods: methodTable([...(options.methods ?? []), ...fixtureMethods]),
    parts,
    tokens: new Tokens(parts),
    capacity: createCapacity({ settings, clock, ...(maxInFlight === undefined ? {} : { maxInFlight }) }),
    clock,
    log,
  }
  return {
    door,
    store,
    logged,
    token: store.addToken({}),
    recorded: () => {
      for (const listener of listeners) listener()
    },
  }
}

/** The real engine with one hook: `exec` is blocked. */
function engineDispatcher(): Dispatcher {
  const hooks = createHooks()
  hooks.on('pre_tool_use', { matcher: '^exec$' }, () => ({ kind: 'block', reason: 'no' }))
  let count = 0
  return {
    async dispatch(_caller, { event, payload, envelope = {} }) {
      const decision = await hooks.dispatch(event as 'pre_tool_use', payload as never, envelope)
      count += 1
      const eventId = envelope.id ?? `event-${count}`
      return { eventId, decision, json: JSON.stringify({ event_id: eventId, decision }) }
    },
  }
}

export const toolCall = {
  event: 'pre_tool_use',
  payload: { tool_name: 'exec', tool_input: { command: 'ls' } },
}

export const masterToken = { tenant_id: MASTER_TENANT } as const

const echo = defineCall({
  name: 'things.echo',
  about: 'Answers what it was given.',
  role: 'viewer',
  params: schema.object({
    thingId: nonEmpty(),
    ...schema.partial({
      count: numeric(),
      wanted: schema.boolean(),
      tags: schema.list(schema.text()),
    }),
  }),
  result: schema.object({ tenant: schema.text(), params: schema.any() }),
  rest: { verb: 'GET', path: '/v1/things/:thingId' },
  needs: [],
  run: async ({ params, caller }) => ({ tenant: caller.tenant, params }),
})

const change = defineCall({
  name: 'things.change',
  about: 'Answers what it was given.',
  role: 'admin',
  params: schema.object({ thingId: nonEmpty(), name: schema.text() }),
  result: schema.object({ params: schema.any() }),
  rest: { verb: 'PATCH', path: '/v1/things/:thingId' },
  needs: [],
  run: async ({ params }) => ({ params }),
})

/** The doors know no subscription by name, so they must serve this one like any other. */
const feed = defineSubscription({
  name: 'things.feed',
  about: 'Things as they happen.',
  role: 'viewer',
  params: schema.object(schema.partial({ cursor: schema.text(), limit: numeric() })),
  result: schema.object({ things: schema.list(schema.any()), nextCursor: schema.text() }),
  rest: { verb: 'GET', path: '/v1/feed' },
  event: 'thing',
  endedBy: 'things.unfeed',
  item: schema.any(),
  needs: ['store', 'onRecorded'],
  async run({ params: { cursor, limit = 50 }, caller, parts }) {
    const { rows, nextCursor } = await parts.store.tail(caller.tenant, cursor, limit)
    return { things: rows, nextCursor }
  },
  itemsOf: ({ things }) => things,
  watch: ({ onRecorded }, listener) => onRecorded(listener),
})

const fixtureMethods: readonly Method[] = [
  echo,
  change,
  feed,
  ...executionMethods.filter(({ kind }) => kind === 'subscription'),
]

/** A connection without an HTTP library, to send what no library would. */
export interface RawConnection {
  readonly socket: Socket
  /** Everything received until the other side closed. */
  readonly all: Promise<string>
}

export function rawConnection(port: number, text: string): RawConnection {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('error', () => {})
  const all = new Promise<string>((resolve) =>
    socket.on('close', () => resolve(Buffer.concat(chunks).toString())),
  )
  socket.write(text)
  onTestFinished(() => {
    socket.destroy()
  })
  return { socket, all }
}
