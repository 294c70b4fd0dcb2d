import { isRecord } from '../../engine/core/check.ts'
import type { Host } from '../../engine/core/handler.ts'
import { handlerError } from '../../engine/core/handler-errors.ts'
import type { AgentAnswer } from '../../engine/core/host.ts'
import type { Log } from '../../engine/core/sink.ts'
import type { Models } from '../model/models.ts'
import { createLedger, type TokenBudget } from '../prompt/token-budget.ts'
import type { AgentRequest } from './agent-request.ts'
import { type CommandAgent, type RunProcess, runCommandAgent } from './command-agent.ts'
import { type AgentTool, runModelAgent } from './model-agent.ts'

const MAX_STEPS = 8

/** A model with an instruction and the names of the tools it may use. */
export interface ModelAgent {
  readonly prompt: string
  readonly model?: string
  /** Without it, all tools. */
  readonly tools?: readonly string[]
}

export interface AgentHostOptions {
  /** Agents on the command line, by name. */
  readonly commands?: Readonly<Record<string, CommandAgent>>
  /** From safe/process. */
  readonly runProcess?: RunProcess
  /** Agents that are a model with tools, by name. */
  readonly agents?: Readonly<Record<string, ModelAgent>>
  readonly models?: Models
  readonly tools?: Readonly<Record<string, AgentTool>>
  /** After this many steps the model must answer. */
  readonly maxSteps?: number
  readonly budget?: TokenBudget
  readonly log?: Log
}

/** The part of a host that starts agents: programs, or models with tools. A hook with a prompt needs no agent name. */
export function createAgentHost(options: AgentHostOptions): Required<Pick<Host, 'startAgent'>> {
  const { commands = {}, agents = {}, tools = {}, maxSteps = MAX_STEPS, models, runProcess } = options
  const ledger = createLedger(options.budget, options.log ?? (() => {}))
  return {
    async startAgent(request, signal) {
      assertRequest(request)
      const { agent_name: name } = request
      const command = findByName(commands, name)
      if (command !== undefined) {
        if (runProcess === undefined) throw handlerError('agent.no_host', 'this host starts no programs')
        return requireAnswer(await runCommandAgent(command, request, { runProcess, signal }))
      }
      const agent = findByName(agents, name) ?? modelAgent(request)
      if (models === undefined) throw handlerError('agent.no_host', 'this host has no models')
      const allowed = agent.tools ?? Object.keys(tools)
      const chosen = Object.fromEntries(Object.entries(tools).filter(([tool]) => allowed.includes(tool)))
      const loop = { models, ledger, tools: chosen, maxSteps }
      return requireAnswer(await runModelAgent(loop, { agent, request }, signal))
    },
  }
}

function modelAgent({ agent_name: name, prompt }: AgentRequest): ModelAgent {
  // An unknown name is an error even if the hook has a prompt.
  if (prompt !== undefined && name === undefined) return { prompt }
  throw handlerError('agent.unknown', `there is no agent ${JSON.stringify(name ?? '')}`)
}

function findByName<T>(table: Readonly<Record<string, T>>, name: string | undefined): T | undefined {
  return name !== undefined && Object.hasOwn(table, name) ? table[name] : undefined
}

function requireAnswer(value: unknown): AgentAnswer {
  if (typeof value === 'string' || isRecord(value)) return value
  throw handlerError('agent.output_schema', 'the answer of the agent is no object')
}

/** A program without types may call the host too. */
function assertRequest(request: AgentRequest): void {
  if (isRecord(request) && isRecord(request.input)) return
  throw handlerError('agent.unknown', 'the request names no agent and carries no input')
}
