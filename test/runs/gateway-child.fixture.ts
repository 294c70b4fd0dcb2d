/** A gateway in a process of its own that may be killed. Its options are in the environment, as is its home. */
import { writeSync } from 'node:fs'
import { openGateway } from '../../src/app/gateway/open-gateway.ts'
import type { Edition } from '../../src/engine/core/values/edition.ts'
import type { RunTimes } from '../../src/runs/coordinator.ts'
import type { Store } from '../../src/store/store.ts'

export interface ChildOptions {
  readonly port?: number
  readonly database?: string
  readonly edition?: Edition
  readonly runs?: RunTimes
  /** Also listens on the unix socket of its home. */
  readonly hasSocket?: boolean
  /** The call of the store at which the process kills itself. */
  readonly dies?: DeathPoint
}

export interface DeathPoint {
  readonly when: 'before' | 'after'
  readonly method: keyof Store
  /** A text that its arguments contain. */
  readonly with: string
}

const {
  port = 0,
  dies,
  hasSocket = false,
  ...options
}: ChildOptions = JSON.parse(process.env.CHILD_OPTIONS ?? '{}')

function dieAt(point: DeathPoint): (store: Store) => Store {
  const die = () => process.kill(process.pid, 'SIGKILL')
  return (store) =>
    new Proxy(store, {
      get(target, name) {
        const method = Reflect.get(target, name)
        if (name !== point.method || typeof method !== 'function') return method
        return async (...args: unknown[]) => {
          const isMeant = JSON.stringify(args).includes(point.with)
          if (isMeant && point.when === 'before') die()
          const answer = await method.apply(target, args)
          if (isMeant) die()
          return answer
        }
      },
    })
}

const gateway = await openGateway({
  listen: { host: '127.0.0.1', port },
  ...(hasSocket ? {} : { socket: false }),
  settings: { rate_limit: { per_second: 1_000_000 } },
  runs: { leaseMs: 3_000, pollMs: 1_000 },
  ...options,
  ...(dies === undefined ? {} : { aroundStore: dieAt(dies) }),
})
process.once('SIGTERM', () => void gateway.close().then(() => process.exit(0)))
const { url, token, socket } = gateway
writeSync(1, `${JSON.stringify({ url, token, socket })}\n`)
