import type { ListenAddress } from '../../access/site.ts'
import { MASTER_TENANT } from '../../access/tenant-tables.ts'
import { errorText } from '../../engine/core/errors/error.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import { type Clock, systemClock } from '../../engine/core/time/clock.ts'
import type { Edition } from '../../engine/core/values/edition.ts'
import type { Models } from '../../handlers/model/models.ts'
import type { RunTimes } from '../../runs/coordinator.ts'
import { avoidWasmCrash } from '../../safe/avoid-wasm-crash.ts'
import type { SettingValues } from '../../settings/settings.ts'
import type { Store } from '../../store/store.ts'
import type { Functions } from './hooks/function-handler.ts'
import { openDoors } from './open-doors.ts'
import { startEngine } from './start-engine.ts'
import { assertNotExposed } from './storage/first-start.ts'
import { createGatewayHome, type GatewayHome, gatewayHome } from './storage/gateway-home.ts'
import { openStorage } from './storage/open-storage.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface GatewayOptions {
  readonly env?: Environment
  readonly listen?: ListenAddress
  /** Path of the unix socket; `false` for none. */
  readonly socket?: string | false
  readonly hosts?: readonly string[]
  readonly origins?: readonly string[]
  /** `postgres://…`; the embedded database in the data folder if omitted. */
  readonly database?: string
  readonly edition?: Edition
  readonly outbound?: { readonly allow?: readonly string[]; readonly dns?: readonly string[] }
  readonly settings?: SettingValues
  /** Leases and waits of runs, for tests. */
  readonly runs?: RunTimes
  /** A folder of a repository whose agent files are loaded too, once they are trusted. */
  readonly cwd?: string
  /** Functions for hooks of type `function`. */
  readonly functions?: Functions
  /** Wraps the store, for example in the faulty store of `hookhelm/testing`. */
  readonly aroundStore?: (store: Store) => Store
  readonly clock?: Clock
  readonly log?: Log
}

/** A gateway that accepts requests. */
export interface RunningGateway {
  readonly url: string
  /** Path of the unix socket. */
  readonly socket: string | undefined
  /** The owner's token. */
  readonly token: string
  /** False if an owner revoked the token of the token file. */
  readonly isTokenKnown: boolean
  readonly defaultTenant: string
  /** The models of each tenant, as its providers are stored. */
  readonly models: Models
  /** The folders that an administrator has listed for runs. */
  runFolders(): readonly string[] | undefined
  /** Returns a link that opens a browser session, once. */
  loginLink(): string
  /** Refuses new requests, finishes running ones, and releases every resource. */
  close(): Promise<void>
}

/** What every stage of the start receives. */
export interface GatewayContext {
  readonly options: GatewayOptions
  readonly env: Environment
  readonly home: GatewayHome
  readonly listen: ListenAddress
  readonly edition: Edition
  readonly clock: Clock
  readonly log: Log
  readonly cleanup: CleanupStack
}

const DEFAULT_LISTEN: ListenAddress = { host: '127.0.0.1', port: 4665 }

/** Starts a gateway in three stages: storage, engine, doors. A failed stage closes everything opened before it. */
export async function openGateway(options: GatewayOptions = {}): Promise<RunningGateway> {
  const { env = process.env, listen = DEFAULT_LISTEN, edition = 'lite' } = options
  const { clock = systemClock, log = () => {} } = options
  // The HTTP parser of fetch is WebAssembly, and so is the sandbox of script hooks.
  avoidWasmCrash()
  const home = gatewayHome(env)
  createGatewayHome(home)
  assertNotExposed(listen.host, home)
  const cleanup = new CleanupStack(log)
  const context = { options, env, home, listen, edition, clock, log, cleanup }
  try {
    const storage = await openStorage(context)
    const engine = await startEngine(context, storage)
    const { url, socket, issueLogin } = await openDoors(context, storage, engine)
    const { adminToken, defaultTenant, settings } = storage
    return {
      url,
      socket,
      token: adminToken.token,
      isTokenKnown: adminToken.isKnown,
      defaultTenant,
      models: engine.models,
      runFolders: () => settings.of(MASTER_TENANT).run_folders,
      loginLink: () => url + issueLogin(),
      close: () => cleanup.run(),
    }
  } catch (thrown) {
    await cleanup.run()
    throw thrown
  }
}

/** Closes resources in the reverse order of their opening. */
class CleanupStack {
  readonly #steps: (() => unknown)[] = []
  readonly #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  add(step: () => unknown): void {
    this.#steps.unshift(step)
  }

  /** Runs every step, even after one fails. */
  async run(): Promise<void> {
    for (const step of this.#steps.splice(0)) {
      try {
        await step()
      } catch (thrown) {
        this.#log('gateway.close_failed', { error: errorText(thrown) })
      }
    }
  }
}
