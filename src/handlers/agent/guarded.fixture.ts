import { type AgentAnswer, createHooks, type HookDefinition, type Host } from '../../index.ts'
import { recorder } from '../../testing/index.ts'
import { createAgentHandler } from './agent.ts'
import type { AgentRequest } from './agent-request.ts'

type Launch = (request: AgentRequest, signal: AbortSignal) => unknown

/** A run that an agent hook guards, in a host that starts agents as told. */
export function guarded(launch: Launch | undefined, options: Partial<HookDefinition> = {}) {
  const requests: AgentRequest[] = []
  const seen = recorder()
  const startAgent = async (request: AgentRequest, signal: AbortSignal) => {
    requests.push(request)
    return launch?.(request, signal) as AgentAnswer
  }
  const host: Host = launch === undefined ? {} : { startAgent }
  const hooks = createHooks({
    handlers: [createAgentHandler()],
    host,
    sink: seen.sink,
    log: seen.log,
    breaker: false,
  })
  const config = { agent_name: 'validator' }
  hooks.add({ id: 'a', event: 'run_start', handler_type: 'agent', config, ...options })
  const envelope = { tenant: 't', session: 's', run: 'r' }
  const run = (parameters: Record<string, unknown> = { path: '/x' }) =>
    hooks.dispatch('run_start', { agent_name: 'main', parameters }, envelope)
  return { hooks, run, requests, seen }
}
