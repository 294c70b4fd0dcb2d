import { openGatewayConnection } from '../plugin/gateway-connection.js'
import { replyReader } from '../plugin/reply.js'
import { createSessionParents } from '../plugin/session-parents.js'

const settings = /* hookhelm:settings */ {}

const anything = replyReader('block', 'ask', 'args', 'prompt', 'output', 'context')
const aboutCall = replyReader('block', 'ask', 'args')
const aboutPrompt = replyReader('block', 'context')
const aboutOutput = replyReader('output')
const aboutEnd = replyReader('block')

/** Hooks whose result the host ignores. */
const observedHooks = [
  'session_start',
  'session_end',
  'before_compaction',
  'after_compaction',
  'before_reset',
  'subagent_spawned',
  'subagent_ended',
  'agent_end',
  'after_tool_call',
  'message_received',
  'message_sending',
  'message_sent',
  'gateway_start',
  'gateway_stop',
  'cron_changed',
  'before_install',
]
const chatty = [
  'before_model_resolve',
  'agent_turn_prepare',
  'before_agent_reply',
  'heartbeat_prompt_contribution',
  'model_call_started',
  'model_call_ended',
  'llm_input',
  'llm_output',
  'resolve_exec_env',
  'tool_result_persist',
  'before_message_write',
  'inbound_claim',
  'before_dispatch',
  'reply_dispatch',
  'subagent_progress',
  'subagent_delivery_target',
]
/** These events repeat the whole conversation each time, until it exceeds the size limit. */
const history = {
  before_prompt_build: ['messages'],
  before_agent_run: ['messages', 'systemPrompt'],
  before_agent_finalize: ['messages'],
  before_compaction: ['messages'],
  before_reset: ['messages'],
  agent_end: ['messages'],
}
const MAX_KNOWN = 10_000
/** The host waits a little longer than the plugin, so that the plugin reports the timeout. */
const hostWait = { timeoutMs: Math.max(settings.within ?? 0, settings.wait ?? 0) + 2_000 }

/** The host loads and registers the plugin several times, and uses hooks of different instances. */
function sharedMemory() {
  const name = Symbol.for('hookhelm.openclaw')
  process[name] ??= {
    sessionParents: createSessionParents(),
    ids: new Map(),
    prompts: new Map(),
    reported: new Set(),
    wrappers: new Set(),
  }
  return process[name]
}

function register(api) {
  const link = openGatewayConnection(settings)
  const { sessionParents, ids, prompts, reported, wrappers } = sharedMemory()

  /** An event for the gateway: the host’s own payload, and its session. */
  function native(name, event, ctx) {
    const key = ctx?.sessionKey ?? event?.sessionKey ?? ctx?.requesterSessionKey
    if (typeof key === 'string' && typeof ctx?.sessionId === 'string') keep(ids, key, ctx.sessionId)
    const sub = sessionParents.find(key)
    const kept = Object.entries(event ?? {}).filter(([field]) => !history[name]?.includes(field))
    return {
      event: Object.fromEntries(kept),
      ctx: plain(ctx),
      session: ids.get(key),
      sub: sub && { ...sub, root: ids.get(sub.root) ?? sub.root },
    }
  }

  async function beforeToolCall(event, ctx) {
    try {
      if (event.toolName === 'tool_call') keep(wrappers, event.toolCallId)
      const sent = native('before_tool_call', event, ctx)
      const { block, ask, args } = await link.gate('before_tool_call', sent, aboutCall)
      if (block !== undefined) return refuse(block)
      const params = args === undefined ? {} : { params: args }
      if (ask === undefined) return args === undefined ? undefined : params
      return { ...params, requireApproval: approval(event.toolName, ask) }
    } catch (error) {
      return refuse(error.message)
    }

    function refuse(blockReason) {
      keep(reported, event.toolCallId)
      return { block: true, blockReason }
    }
  }

  /** Asks here, because only this hook can add context. A block takes effect when the run begins. */
  async function beforePromptBuild(event, ctx) {
    const reply = await askPrompt('before_prompt_build', event, ctx)
    keep(prompts, ctx?.runId, { prompt: event.prompt, reply })
    return reply.context === undefined ? undefined : { appendContext: reply.context }
  }

  async function beforeAgentRun(event, ctx) {
    const known = prompts.get(ctx?.runId)
    prompts.delete(ctx?.runId)
    const isSame = known !== undefined && holds(event.prompt, known.prompt)
    const { block } =
      known?.reply.block !== undefined || isSame
        ? known.reply
        : await askPrompt('before_agent_run', event, ctx)
    return block === undefined ? undefined : { outcome: 'block', reason: block, message: block }
  }

  async function askPrompt(name, event, ctx) {
    try {
      return await link.gate(name, native(name, event, ctx), aboutPrompt)
    } catch (error) {
      return { block: error.message }
    }
  }

  async function beforeAgentFinalize(event, ctx) {
    const sent = native('before_agent_finalize', event, ctx)
    const { block } = await link.consult('before_agent_finalize', sent, aboutEnd)
    if (block === undefined) return undefined
    // Without its own id the host would retry only once. It ends after three.
    return { action: 'revise', reason: block, retry: { instruction: block, maxAttempts: 8 } }
  }

  /** The only hook that can change a result before the model reads it. */
  async function toolResult(event, ctx) {
    keep(reported, event.toolCallId)
    const { output } = await link.consult(
      'agent_tool_result',
      native('agent_tool_result', event, ctx),
      aboutOutput,
    )
    return output === undefined ? undefined : { result: { ...event.result, ...output } }
  }

  function tell(name, event, ctx) {
    if (name === 'subagent_spawned') sessionParents.add(event?.childSessionKey, ctx?.requesterSessionKey)
    if (name === 'after_tool_call' && isReported(event?.toolCallId)) return undefined
    const telling = link.observe(name, native(name, event, ctx), anything)
    return name === 'gateway_stop' ? telling : undefined
  }

  /** Already reported with its result, refused by us, or the inner call of a reported one. */
  function isReported(call) {
    const outer = /^tool_search_code:(.+):[^:]+:\d+$/.exec(String(call))?.[1]
    return reported.delete(call) || wrappers.has(outer)
  }

  api.on('before_tool_call', beforeToolCall, hostWait)
  api.on('before_agent_run', beforeAgentRun, hostWait)
  api.on('before_prompt_build', beforePromptBuild, hostWait)
  api.on('before_agent_finalize', beforeAgentFinalize, hostWait)
  for (const name of [...observedHooks, ...(settings.chatty === true ? chatty : [])]) {
    // Other versions may not know one of these hooks. The gates must be registered anyway.
    try {
      api.on(name, (event, ctx) => tell(name, event, ctx))
    } catch {}
  }
  try {
    api.registerAgentToolResultMiddleware?.(toolResult, { runtimes: ['openclaw', 'codex'] })
  } catch {}
}

/** Whether a prompt was submitted before, perhaps with text that plugins added. */
function holds(prompt, asked) {
  return prompt === asked || (typeof prompt === 'string' && asked !== '' && prompt.includes(asked))
}

/**
 * The fields that identify the session. The others are functions, signals and, at the start, the whole configuration
 * with its secrets.
 */
function plain(ctx) {
  const isPlain = ([key, value]) =>
    key === 'requester' || ['string', 'number', 'boolean'].includes(typeof value)
  return Object.fromEntries(Object.entries(ctx ?? {}).filter(isPlain))
}

function approval(tool, words) {
  const title = `Hookhelm: ${tool}`.slice(0, 80)
  return {
    title,
    description: words.slice(0, 512),
    severity: 'warning',
    allowedDecisions: ['allow-once', 'deny'],
  }
}

/** Adds to a map or set, which drops its oldest entry when it is full. */
function keep(known, key, value) {
  if (key === undefined) return
  if (known.size >= MAX_KNOWN) known.delete(known.keys().next().value)
  if (known instanceof Map) known.set(key, value)
  else known.add(key)
}

// biome-ignore lint/style/noDefaultExport: the host looks for it
export default {
  id: 'hookhelm',
  name: 'Hookhelm',
  description: 'Every tool call passes your hooks.',
  register,
}
