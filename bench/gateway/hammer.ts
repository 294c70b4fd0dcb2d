import { callOf, paced } from './paced.ts'

/** The loud tenant, in a process of its own: `node hammer.ts <port> <token> <per second> <bytes>`, until it is killed. */
const [port, token = '', perSecond, bytes] = process.argv.slice(2)
const body = callOf('x'.repeat(Number(bytes)))
const target = { port: Number(port), path: '/v1/dispatch', token, body }
for (;;) {
  const { served, refused } = await paced(target, { perSecond: Number(perSecond), connections: 16, ms: 500 })
  process.send?.({ served, refused })
}
