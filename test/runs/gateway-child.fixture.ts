/** A gateway in a process of its own that may be killed: `node gateway-child.fixture.ts <port>`, its home in the environment. */
import { writeSync } from 'node:fs'
import { openGateway } from '../../src/app/gateway/open-gateway.ts'

const [port = '0'] = process.argv.slice(2)
const { url, token } = await openGateway({
  listen: { host: '127.0.0.1', port: Number(port) },
  socket: false,
  runs: { leaseMs: 3_000, pollMs: 1_000 },
})
writeSync(1, `${JSON.stringify({ url, token })}\n`)
