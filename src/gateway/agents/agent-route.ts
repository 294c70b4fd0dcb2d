import type { ProcessReply } from '../../agents/agent-adapter.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { parseJson } from '../../safe/json.ts'
import { mayNameFolders } from '../../stored-hooks/snapshots/event-folders.ts'
import type { Door } from '../doors/door.ts'
import type { EventRoute } from '../doors/http/event-route.ts'
import { AGENT_LIMITS, type AgentReply, requireAgent } from './agent-door.ts'

const PREFIX = '/v1/agents/'
/** A client that can wait for a person adds how long. Every other query makes it another path. */
const WITH_LIMIT = /^([^?]*)(?:\?within_ms=(\d{1,9}))?$/

/** `POST /v1/agents/<agent>/<event>`: the native payload of an agent whose hooks are HTTP requests. */
export function isAgentPath(url: string | undefined): boolean {
  return url?.startsWith(PREFIX) === true
}

export function agentRoute({ agents, parts }: Pick<Door, 'agents' | 'parts'>): EventRoute {
  return {
    maxBytes: AGENT_LIMITS.maxBytes,
    async reply({ caller, text, url, signal, onPending }) {
      const [, path = '', within] = WITH_LIMIT.exec(url) ?? []
      const [name, event, ...rest] = path.slice(PREFIX.length).split('/')
      if (event === undefined || !/^[\w.]{1,64}$/.test(event) || rest.length > 0)
        throw serverError('gateway.not_found', 'the path is /v1/agents/<agent>/<event>')
      const request = {
        event,
        native: parseJson(text, AGENT_LIMITS),
        ...(within === undefined ? {} : { withinMs: Number(within) }),
      }
      const isLocal = mayNameFolders(caller, parts)
      const options = { isLocal, onPending, ...(signal === undefined ? {} : { signal }) }
      return bodyOf(await agents.decide(caller, requireAgent(name), request, options))
    },
  }
}

/** The standard output of a process reply; a blocking exit code becomes a JSON block. */
function bodyOf(reply: AgentReply): string {
  if (!isProcessReply(reply)) return JSON.stringify(reply)
  const { exit, stdout, stderr } = reply
  if (exit === 0) return stdout === '' ? '{}' : stdout
  return JSON.stringify({ decision: 'block', reason: stderr.trim() })
}

function isProcessReply(reply: AgentReply): reply is ProcessReply {
  return typeof reply.exit === 'number' && typeof reply.stdout === 'string'
}
