import {
  type ContentPart,
  type GenerateTextStepEndEvent,
  type ModelMessage,
  type ToolSet,
  wrapLanguageModel,
} from 'ai'
import { errorText } from '../../../engine/core/errors/error.ts'
import { isRecord } from '../../../engine/core/schema/check.ts'
import type { JsonSchema } from '../../../handlers/agent/schema-check.ts'
import type { ServedModel } from '../../../handlers/model/models.ts'
import { type AgentHooks, createAgentHooks, messageOf, subagentHooks } from '../../../sdk/agent-hooks.ts'
import { type AiSdkSession, createHookedSession } from '../../../sdk/ai-sdk/hooked-session.ts'
import { type AiToolGate, createAiToolGate } from '../../../sdk/ai-sdk/tool-gate.ts'
import { type Blueprint, checkOutput } from '../../blueprints/blueprint.ts'
import { type ExecutorSettings, type ModelToolName, selectTools } from '../../executor.ts'
import type { NewSessionEvent, RunResult } from '../../run-events.ts'
import { environmentOf, type RunOrder } from '../execute-command.ts'
import type { RunExecution, RunnerMeans } from '../execute-run.ts'
import { createProjectTools } from '../project-tools.ts'
import { createCompaction } from './compaction.ts'
import { createModelHistory, type ModelHistory, readModelHistory } from './model-history.ts'
import {
  ANSWER_TOOL,
  createToolSet,
  type ModelOutcome,
  runModelLoop,
  type WantedAnswer,
} from './model-loop.ts'

const MAX_STEPS = 50
const COMPACT_AT_TOKENS = 100_000
const REPAIRS = 1
const MAX_OUTPUT_TOKENS = 16_384

/** What the model executor needs for one run. */
export interface ModelExecution
  extends Pick<RunnerMeans, 'decisions' | 'clock' | 'log'>,
    Omit<RunExecution, 'onSession' | 'findSession'> {
  readonly settings: ExecutorSettings
  readonly served: ServedModel
  readonly folder: string
  readonly prompt: string
}

/** Runs an autonomous agent: a model with the blueprint's prompt and tools, with the hooks around every step. */
export async function executeModel(
  blueprint: Blueprint,
  order: RunOrder,
  execution: ModelExecution,
): Promise<RunResult> {
  const { settings, folder, signal, emit, log, prompt } = execution
  const about = {
    ...{ session: order.session_id, run: order.run_id, depth: order.depth, cwd: folder, log },
    ...(order.agent_name === null ? {} : { agent: order.agent_name }),
  }
  const agentHooks = createAgentHooks({ ...execution.decisions, ...about }, 'hookhelm')
  const permissionFirst = settings.permission_first ?? false
  const isResumed = order.type === 'resume_session'
  const earlier = isResumed ? readModelHistory(await execution.findMessages(), order.run_id) : []
  const session = createHookedSession(agentHooks, {
    holds: () => false,
    createGate: (hooks) => createRunToolGate(hooks, { permissionFirst, emit }),
    source: isResumed ? 'resume' : 'startup',
  })
  emit({ event_type: 'message', data: { role: 'user', content: prompt } })
  const agent = { blueprint, order, execution, tokens: createTokenCount(execution) }
  const history = createModelHistory(earlier, execution.keep)
  try {
    const outcome = await runLoop(agent, { session, agentHooks, prompt, main: { earlier, history } })
    await session.end('completed')
    return 'text' in outcome
      ? { result_text: outcome.text, result_data: null }
      : { result_text: null, result_data: outcome.answer }
  } catch (thrown) {
    await session.end(signal.aborted ? 'stopped' : 'failed')
    throw thrown
  } finally {
    await agent.tokens.settle()
  }
}

/** Counts the tokens of all loops of a run, and charges them before the next step. */
function createTokenCount({ spendTokens, log }: Pick<ModelExecution, 'spendTokens' | 'log'>) {
  let unpaid = 0
  const spend = async () => {
    const count = unpaid
    unpaid = 0
    await spendTokens(count)
  }
  return {
    add(count: number): void {
      unpaid += count
    },
    spend,
    /** Charges the rest. The work is done, so a spent budget does not fail it. */
    settle: () =>
      unpaid === 0
        ? Promise.resolve()
        : spend().catch((thrown) => log('runner.tokens_uncharged', { error: errorText(thrown) })),
  }
}

interface RunAgent {
  readonly blueprint: Blueprint
  readonly order: RunOrder
  readonly execution: ModelExecution
  readonly tokens: ReturnType<typeof createTokenCount>
}

interface LoopCall {
  readonly session: AiSdkSession
  readonly agentHooks: AgentHooks
  readonly prompt: string
  /** Undefined for sub-agents: they answer with text, start no further ones, and are not resumed. */
  readonly main?: { readonly earlier: readonly ModelMessage[]; readonly history: ModelHistory }
}

async function runLoop(agent: RunAgent, call: LoopCall): Promise<ModelOutcome> {
  const { blueprint, execution, tokens } = agent
  const { session, agentHooks, prompt, main } = call
  const { settings, served, signal, emit } = execution
  const schema = main === undefined ? undefined : blueprint.output_schema
  const answer = isRecord(schema) ? wantedAnswer(blueprint, schema, agentHooks) : undefined
  const tools = session.guard(await toolsOf(agent, call)).tools
  const sent = rememberPrompt(served.language)
  const limitTokens = settings.compact_at_tokens ?? COMPACT_AT_TOKENS
  const onTokens = tokens.add
  const compaction = createCompaction(agentHooks, {
    ...{ limitTokens, served, task: prompt, signal, emit, onTokens },
  })
  const recorder = createStepRecorder(call, compaction, sent.prompt)
  return runModelLoop(
    {
      provider: served.provider,
      model: session.model(sent.model),
      instructions: instructionsOf(blueprint, answer !== undefined),
      ...{ prompt, tools, maxOutputTokens: MAX_OUTPUT_TOKENS, onTokens },
      ...(main === undefined ? {} : { earlier: main.earlier }),
      ...(answer === undefined ? {} : { answer }),
      maxSteps: settings.max_steps ?? MAX_STEPS,
      beforeStep: tokens.spend,
      compact: recorder.compact,
      onStep: (step) => {
        recorder.record(step.response.messages)
        const lane = main === undefined ? { agent: agentHooks.envelope.agent } : {}
        for (const event of stepEvents(step, lane)) emit(event)
      },
    },
    signal,
  )
}

/** The model, and the prompt as the hooks let it reach the provider. */
function rememberPrompt(language: ServedModel['language']) {
  let found: string | undefined
  const model = wrapLanguageModel({
    model: language,
    middleware: {
      specificationVersion: 'v4',
      async transformParams({ params }) {
        const last = params.prompt.at(-1)
        if (found === undefined && last?.role === 'user')
          found = last.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')
        return params
      },
    },
  })
  return { model, prompt: () => found }
}

/** Keeps what the model has seen: the prompt as hooks changed it, the steps, and what compaction left. */
function createStepRecorder(
  { prompt, main }: LoopCall,
  compaction: ReturnType<typeof createCompaction>,
  sentPrompt: () => string | undefined,
) {
  let isRecorded = false
  let compacted: readonly ModelMessage[] | undefined
  const asSent = (message: ModelMessage): ModelMessage =>
    message.role === 'user' && message.content === prompt
      ? { role: 'user', content: sentPrompt() ?? prompt }
      : message
  return {
    async compact(messages: readonly ModelMessage[]): Promise<ModelMessage[] | undefined> {
      const shorter = await compaction(messages.map(asSent))
      compacted = shorter ?? compacted
      return shorter
    },
    record(messages: readonly ModelMessage[]): void {
      const own: ModelMessage[] = isRecorded || compacted ? [] : [{ role: 'user', content: prompt }]
      const added = [...own.map(asSent), ...messages]
      if (compacted === undefined) main?.history.add(added)
      else main?.history.replace([...compacted.map(asSent), ...added])
      isRecorded = true
      compacted = undefined
    },
  }
}

function instructionsOf({ system_prompt = '' }: Blueprint, isStructured: boolean): string {
  const end = isStructured ? `When the work is done, call the tool ${ANSWER_TOOL} with the result.` : ''
  return [system_prompt, end].filter((part) => part !== '').join('\n\n')
}

/** A `stop` hook that blocks makes the model go on. The middleware asks it about text, so here it is about the tool. */
function wantedAnswer(blueprint: Blueprint, schema: JsonSchema, agentHooks: AgentHooks): WantedAnswer {
  let again = false
  return {
    ...{ schema, repairs: REPAIRS },
    check(value) {
      const [violation] = checkOutput(blueprint, value)
      return violation && `${violation.path || 'it'} ${violation.message}`
    },
    async beforeEnd(answer) {
      const decision = await agentHooks.gate('stop', {
        stop_hook_active: again,
        last_assistant_message: JSON.stringify(answer),
        stop_reason: 'stop',
      })
      again = true
      return decision.kind === 'block' ? messageOf(decision) : undefined
    },
  }
}

async function toolsOf(agent: RunAgent, call: LoopCall): Promise<ToolSet> {
  const { blueprint, order, execution } = agent
  const { folder, run, signal, clock } = execution
  const names = blueprint.tools === undefined ? [] : selectTools(blueprint.tools)
  const project = createProjectTools({ folder, run, clock, env: environmentOf(order) })
  const all = { ...project, ...(call.main === undefined ? {} : { Agent: subAgentTool(agent, call) }) }
  const chosen = Object.entries(all).filter(([name]) => names.some((each) => each === name))
  return createToolSet(Object.fromEntries(chosen), signal)
}

/** The tool `Agent`: a child in this process with the same model and tools, and a lane of its own in the same session. */
function subAgentTool(agent: RunAgent, { session, agentHooks }: LoopCall) {
  const text = { type: 'string' }
  return {
    description: 'Starts a sub-agent with a task of its own, and returns what it answers.',
    input_schema: {
      type: 'object',
      properties: { description: text, prompt: text, subagent_type: text },
      required: ['prompt'],
    },
    async run(input: unknown) {
      const { prompt, subagent_type = 'general-purpose' } = isRecord(input) ? input : {}
      const name = String(subagent_type)
      const hooks = subagentHooks(agentHooks, name)
      const outcome = await session.subagent(name, String(prompt), (inner, given) =>
        runLoop(agent, { session: inner, agentHooks: hooks, prompt: given }),
      )
      return 'text' in outcome ? outcome.text : JSON.stringify(outcome.answer)
    },
  }
}

/** Tools that only look need no permission. */
const withoutPermission: readonly string[] = ['Read'] satisfies readonly ModelToolName[]

/** Asks `pre_tool_use` and `permission_request`. The gateway asks people; without one that does, `ask` blocks. */
function createRunToolGate(
  agentHooks: AgentHooks,
  { permissionFirst, emit }: { readonly permissionFirst: boolean; emit(event: NewSessionEvent): void },
): AiToolGate {
  const both = permissionFirst
    ? (['permission_request', 'pre_tool_use'] as const)
    : (['pre_tool_use', 'permission_request'] as const)
  const gate = createAiToolGate(agentHooks, (tool) =>
    withoutPermission.includes(tool) ? ['pre_tool_use'] : both,
  )
  return {
    ...gate,
    async ask(call) {
      const decision = await gate.ask(call)
      if (decision.kind === 'allow') return decision
      const code = decision.kind === 'ask' ? 'approval.no_wait' : 'agent.blocked'
      const message =
        decision.kind === 'ask'
          ? `this needs a person's approval, and the gateway asks none here (${code}): ${decision.message}`
          : decision.message
      const { toolName: tool_name, toolCallId: tool_use_id } = call
      emit({ event_type: 'tool_blocked', data: { tool_name, tool_use_id, reason: message, code } })
      return { ...decision, kind: 'block', message }
    },
  }
}

/** A step of the model as events of the session. What hooks changed in a result is changed here too. */
function stepEvents(
  { text, content }: Pick<GenerateTextStepEndEvent, 'text' | 'content'>,
  more: Readonly<Record<string, unknown>>,
): NewSessionEvent[] {
  const said =
    text === '' ? [] : [{ event_type: 'message', data: { ...more, role: 'assistant', content: text } }]
  return [...said, ...content.flatMap((part) => toolEvents(part, more))]
}

function toolEvents(part: ContentPart<ToolSet>, more: Readonly<Record<string, unknown>>): NewSessionEvent[] {
  if (part.type !== 'tool-call' && part.type !== 'tool-result' && part.type !== 'tool-error') return []
  if (part.toolName === ANSWER_TOOL) return []
  const about = { ...more, tool_name: part.toolName, tool_use_id: part.toolCallId }
  if (part.type === 'tool-call')
    return [{ event_type: 'pre_tool', data: { ...about, tool_input: part.input } }]
  if (part.type === 'tool-result')
    return [{ event_type: 'post_tool', data: { ...about, tool_output: part.output } }]
  return [{ event_type: 'post_tool', data: { ...about, error: errorText(part.error) } }]
}
