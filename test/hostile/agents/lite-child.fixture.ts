/** A local gateway in a process of its own that may be killed, its home in the environment. */
import { writeSync } from 'node:fs'
import { openGateway } from '../../../src/app/gateway/open-gateway.ts'

const gateway = await openGateway({
  listen: { host: '127.0.0.1', port: 0 },
  settings: { audit: 'strict', rate_limit: { per_second: 1_000_000 } },
  functions: { guard: () => ({ kind: 'block', reason: 'guarded' }) },
})
process.once('SIGTERM', () => void gateway.close().then(() => process.exit(0)))
const { url, token, socket } = gateway
writeSync(1, `${JSON.stringify({ url, token, socket })}\n`)
