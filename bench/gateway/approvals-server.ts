import { openGateway } from '../../src/app/gateway/open-gateway.ts'

/** A gateway with one hook that asks a person about pushes, in a process of its own: `approvals-server.ts [database]`. */
const [database] = process.argv.slice(2)
const gateway = await openGateway({
  listen: { host: '127.0.0.1', port: 0 },
  functions: {
    careful: (payload) =>
      JSON.stringify(payload).includes('git push') ? { kind: 'ask', reason: 'a push' } : undefined,
  },
  settings: { rate_limit: { per_second: 1_000_000 }, own_approvals: true, approval_timeout_ms: 3_600_000 },
  ...(database === undefined ? {} : { database }),
})
const { url, token, socket } = gateway
const hook = {
  ...{ name: 'careful', event: 'pre_tool_use', handler_type: 'function', scope: 'tenant' },
  config: { name: 'careful' },
}
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
const { hooks } = (await (await fetch(`${url}/v1/hooks`, { headers })).json()) as {
  hooks: readonly { name: string }[]
}
if (!hooks.some(({ name }) => name === hook.name)) {
  const request = { method: 'POST', headers, body: JSON.stringify(hook) }
  const response = await fetch(`${url}/v1/hooks`, request)
  if (!response.ok) throw new Error(await response.text())
}
process.send?.({ url, token, socket })
process.on('message', (text) => {
  if (text === 'stop') gateway.close().then(() => process.exit(0))
  if (text === 'memory') {
    globalThis.gc?.()
    const { heapUsed, external } = process.memoryUsage()
    process.send?.({ bytes: heapUsed + external })
  }
})
