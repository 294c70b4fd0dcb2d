import { openGateway } from '../../src/app/gateway/open-gateway.ts'

/** A gateway with so many stored hooks, of which one matches `Bash`; it reports its CPU time when asked. */
const [count] = process.argv.slice(2)
const gateway = await openGateway({
  listen: { host: '127.0.0.1', port: 0 },
  functions: { pass: () => undefined },
  settings: { rate_limit: { per_second: 1_000_000 } },
})

async function create(matcher: string): Promise<void> {
  const response = await fetch(`${gateway.url}/v1/hooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      event: 'pre_tool_use',
      handler_type: 'function',
      scope: 'tenant',
      matcher,
      if_expr: 'size(tool_input.command) > 0',
      config: { name: 'pass' },
    }),
  })
  if (!response.ok) throw new Error(await response.text())
}

await create('^Bash$')
for (let index = 1; index < Number(count); index++) await create(`^tool_${index}$`)
process.send?.({ port: Number(new URL(gateway.url).port), token: gateway.token })
process.on('message', (text) => {
  if (text === 'cpu') process.send?.(process.cpuUsage())
  if (text === 'stop') gateway.close().then(() => process.exit(0))
})
