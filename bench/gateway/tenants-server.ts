import { openGateway } from '../../src/app/gateway/open-gateway.ts'

/** A gateway with two tenants, of which the loud one may send so many dispatches a second, in a process of its own. */
const perSecond = Number(process.argv[2])
const gateway = await openGateway({
  listen: { host: '127.0.0.1', port: 0 },
  socket: false,
  edition: 'standard',
  functions: { pass: () => undefined },
  settings: { rate_limit: { per_second: 1_000_000 } },
})
const call = async (verb: string, path: string, body: unknown, tenant?: string) => {
  const response = await fetch(`${gateway.url}${path}`, {
    method: verb,
    headers: {
      authorization: `Bearer ${gateway.token}`,
      'content-type': 'application/json',
      ...(tenant === undefined ? {} : { 'x-hookhelm-tenant': tenant }),
    },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(await response.text())
  return (await response.json()) as { token: string }
}
const join = async (name: string): Promise<string> => {
  await call('POST', '/v1/tenants', { name })
  const hook = { event: 'pre_tool_use', handler_type: 'function', scope: 'tenant', config: { name: 'pass' } }
  await call('POST', '/v1/hooks', hook, name)
  return (await call('POST', '/v1/tokens', { name, role: 'agent' }, name)).token
}
const [loud, quiet] = [await join('loud'), await join('quiet')]
const limit = { settings: { rate_limit: { per_second: perSecond, burst: perSecond } } }
await call('PATCH', '/v1/settings', limit, 'loud')
process.send?.({ port: Number(new URL(gateway.url).port), loud, quiet })
process.on('message', (text) => {
  if (text === 'stop') gateway.close().then(() => process.exit(0))
})
