/** A gateway in a separate process that may be killed: `node gateway-child.fixture.ts [database]`, with its home in the environment. */
import { randomUUID } from 'node:crypto'
import { writeSync } from 'node:fs'
import { openGateway } from '../../src/app/gateway/open-gateway.ts'
import { systemClock } from '../../src/engine/core/time/clock.ts'
import { markTime } from './withheld.fixture.ts'

const [database] = process.argv.slice(2)
/** Expires the leases of the previous gateway, which would otherwise take half a minute. */
const ahead = Number(process.env.CLOCK_AHEAD_MS ?? 0)
const gateway = await openGateway({
  listen: { host: '127.0.0.1', port: 0 },
  edition: 'standard',
  outbound: { allow: ['127.0.0.1'] },
  settings: { rate_limit: { per_second: 1_000_000 } },
  functions: {
    pass: () => undefined,
    stop: () => ({ kind: 'block', reason: 'stop' }),
    // Every run answers differently.
    nonce: () => ({ kind: 'block', reason: randomUUID() }),
  },
  aroundStore: markTime(process.env.MARKS ?? '/dev/null').around,
  clock: { ...systemClock, now: () => systemClock.now() + ahead },
  ...(database === undefined ? {} : { database }),
})
process.once('SIGTERM', () => void gateway.close().then(() => process.exit(0)))
writeSync(1, `${JSON.stringify({ url: gateway.url, token: gateway.token })}\n`)
