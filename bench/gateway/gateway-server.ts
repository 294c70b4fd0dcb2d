import { openGateway } from '../../src/app/gateway/open-gateway.ts'

/** A gateway with three function hooks and audit on, in a process of its own. */
const [database] = process.argv.slice(2)
const gateway = await openGateway({
  listen: { host: '127.0.0.1', port: 0 },
  functions: { pass: () => undefined },
  settings: { rate_limit: { per_second: 1_000_000 } },
  ...(database === undefined ? {} : { database }),
})
for (let index = 0; index < 3; index++) {
  const response = await fetch(`${gateway.url}/v1/hooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      event: 'pre_tool_use',
      handler_type: 'function',
      scope: 'tenant',
      config: { name: 'pass' },
    }),
  })
  if (!response.ok) throw new Error(await response.text())
}
process.send?.({ port: Number(new URL(gateway.url).port), token: gateway.token, socket: gateway.socket })
process.on('message', (text) => {
  if (text === 'stop') gateway.close().then(() => process.exit(0))
})
