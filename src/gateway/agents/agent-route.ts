import type { ProcessReply } from '../../agents/agent-adapter.ts'
import { isRecord } from '../../engine/core/check.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import { parseJson } from '../../safe/json.ts'
import type { GatewayParts } from '../parts.ts'
import type { EventRoute } from '../server/dispatch-route.ts'
import { requireAgent } from './agent-door.ts'
import { AGENT_LIMITS } from './agent-limits.ts'

const PREFIX = '/v1/agents/'

/** `POST /v1/agents/<agent>/<event>`: the payload as the agent sends it, for those that have hooks over HTTP. */
export function isAgentPath(url: string | undefined): boolean {
  return url?.startsWith(PREFIX) === true
}

export function agentRoute({ agents }: Pick<GatewayParts, 'agents'>): EventRoute {
  return {
    maxBytes: AGENT_LIMITS.maxBytes,
    async answer({ caller, text, url, signal }) {
      const [name, event, ...rest] = url.slice(PREFIX.length).split('/')
      if (event === undefined || !/^[\w.]{1,64}$/.test(event) || rest.length > 0)
        throw serverError('gateway.not_found', 'the path is /v1/agents/<agent>/<event>')
      const request = { event, native: parseJson(text, AGENT_LIMITS) }
      // Whoever comes over HTTP may be anywhere: the files of a folder here are not theirs.
      const how = { isLocal: false, ...(signal === undefined ? {} : { signal }) }
      return bodyOf(await agents.ask(caller, requireAgent(name), request, how))
    },
  }
}

/** What a process would have printed; what it would have refused by its exit code is said in words. */
function bodyOf(reply: string): string {
  const value: unknown = JSON.parse(reply)
  if (!isProcessReply(value)) return reply
  const { exit, stdout, stderr } = value
  if (exit === 0) return stdout === '' ? '{}' : stdout
  return JSON.stringify({ decision: 'block', reason: stderr.trim() })
}

function isProcessReply(value: unknown): value is ProcessReply {
  return isRecord(value) && typeof value.exit === 'number' && typeof value.stdout === 'string'
}
