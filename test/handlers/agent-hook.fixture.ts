import type { StartAgentRequest } from '../../src/engine/core/host.ts'
import { agentHandler } from '../../src/handlers/agent/agent.ts'
import { type AgentAnswer, createHooks, type HookDefinition, type Host } from '../../src/index.ts'
import { recorder } from '../../src/testing/index.ts'

type Launch = (request: StartAgentRequest, signal: AbortSignal) => unknown

/** An agent hook on `run_start`, with a host that starts agents by calling `launch`. */
export function createAgentTest(launch: Launch | undefined, options: Partial<HookDefinition> = {}) {
  const requests: StartAgentRequest[] = []
  const seen = recorder()
  const startAgent = async (request: StartAgentRequest, signal: AbortSignal) => {
    requests.push(request)
    return launch?.(request, signal) as AgentAnswer
  }
  const host: Host = launch === undefined ? {} : { startAgent }
  const hooks = createHooks({
    handlers: [agentHandler.create({})],
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
