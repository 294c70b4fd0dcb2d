/**
 * Stores a hook in a new gateway, dispatches an event once per session, runs a command, and prints all results as JSON.
 * `guides.test.ts` runs it in a copy of the repository.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { openGateway } from '../../src/app/gateway/open-gateway.ts'
import { createClient } from '../../src/client/client.ts'

/** What `guides.test.ts` passes as the only argument. */
export interface GatewayRequest {
  readonly hook: Readonly<Record<string, unknown>>
  readonly payload: unknown
  readonly sessions: readonly string[]
  /** The words after `hookhelm`. */
  readonly command: readonly string[]
}

export interface GatewayReport {
  readonly stored: Readonly<Record<string, unknown>>
  readonly decisions: readonly string[]
  readonly paths: readonly string[]
  readonly printed: string
}

const request: GatewayRequest = JSON.parse(process.argv[2] ?? '')
const { hook, payload, sessions, command } = request
const gateway = await openGateway({ listen: { host: '127.0.0.1', port: 0 }, socket: false })
const { url, token } = gateway
const client = createClient({ url, token })
const { hookId } = await client.call('hooks.create', { scope: 'tenant', ...hook } as never)
const stored = await client.call('hooks.get', { hookId })
const decisions: string[] = []
for (const session of sessions) {
  const { decision } = await client.dispatch({ event: String(hook.event), payload, envelope: { session } })
  decisions.push(`${decision.kind} ${decision.reason ?? ''}`.trim())
}
const openapi = await fetch(`${url}/v1/openapi.json`, { headers: { authorization: `Bearer ${token}` } })
const { paths } = (await openapi.json()) as { readonly paths: object }
const env = { ...process.env, HOOKHELM_URL: url, HOOKHELM_TOKEN: token }
const argv = ['src/cli/main.ts', ...command]
const { stdout } = await promisify(execFile)(process.execPath, argv, { env })
await client.close()
await gateway.close()
const report: GatewayReport = {
  stored: { ...stored.hook },
  decisions,
  paths: Object.keys(paths),
  printed: stdout,
}
process.stdout.write(JSON.stringify(report))
