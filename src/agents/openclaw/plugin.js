import { openFamily } from '../plugin/family.js'
import { openLink } from '../plugin/link.js'
import { reader } from '../plugin/reply.js'

const settings = /* hookhelm:settings */ {}

const anything = reader('block', 'ask', 'args', 'prompt', 'output', 'context')
const aboutCall = reader('block', 'ask', 'args')
const aboutPrompt = reader('block', 'context')
const aboutOutput = reader('output')
const aboutEnd = reader('block')

/** What nobody waits for. */
const told = [
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
/** They repeat the whole conversation each time, until it is too long to be sent. */
const history = {
  before_prompt_build: ['messages'],
  before_agent_run: ['messages', 'systemPrompt'],
  before_agent_finalize: ['messages'],
  before_compaction: ['messages'],
  before_reset: ['messages'],
  agent_end: ['messages'],
}
const MAX_KNOWN = 10_000
/** The host waits a little longer than we do, so that the words are ours. */
const hostWait = { timeoutMs: (settings.within ?? 0) + 2_000 }

/** The host loads and registers the plugin several times, and takes one hook from here and another from there. */
function sharedMemory() {
  const name = Symbol.for('hookhelm.openclaw')
  process[name] ??= {
    family: openFamily(),
    ids: new Map(),
    prompts: new Map(),
    reported: new Set(),
    wrappers: new Set(),
  }
  return process[name]
}

function register(api) {
  const link = openLink(settings)
  const { family, ids, prompts, reported, wrappers } = sharedMemory()

  /** An event as the gateway gets it: the host’s own words, and which session they belong to. */
  function native(name, event, ctx) {
    const key = ctx?.sessionKey ?? event?.sessionKey ?? ctx?.requesterSessionKey
    if (typeof key === 'string' && typeof ctx?.sessionId === 'string') keep(ids, key, ctx.sessionId)
    const sub = family.of(key)
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

  /** Asked here, because only here words can be added; a block is carried out when the run begins. */
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
    // Without a number of its own it would go on only once. The host ends after three.
    return { action: 'revise', reason: block, retry: { instruction: block, maxAttempts: 8 } }
  }

  /** The one place where a result can change before the model reads it. */
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
    if (name === 'subagent_spawned') family.adopt(event?.childSessionKey, ctx?.requesterSessionKey)
    if (name === 'after_tool_call' && isReported(event?.toolCallId)) return undefined
    const telling = link.observe(name, native(name, event, ctx), anything)
    return name === 'gateway_stop' ? telling : undefined
  }

  /** Told with its result already, refused by us, or the inside of a call whose outside is told. */
  function isReported(call) {
    const outer = /^tool_search_code:(.+):[^:]+:\d+$/.exec(String(call))?.[1]
    return reported.delete(call) || wrappers.has(outer)
  }

  api.on('before_tool_call', beforeToolCall, hostWait)
  api.on('before_agent_run', beforeAgentRun, hostWait)
  api.on('before_prompt_build', beforePromptBuild, hostWait)
  api.on('before_agent_finalize', beforeAgentFinalize, hostWait)
  for (const name of [...told, ...(settings.chatty === true ? chatty : [])]) {
    // Another version may not know one of them, and the gates matter more.
    try {
      api.on(name, (event, ctx) => tell(name, event, ctx))
    } catch {}
  }
  try {
    api.registerAgentToolResultMiddleware?.(toolResult, { runtimes: ['openclaw', 'codex'] })
  } catch {}
}

/** Whether a prompt is one that was asked about, perhaps with words that plugins added. */
function holds(prompt, asked) {
  return prompt === asked || (typeof prompt === 'string' && asked !== '' && prompt.includes(asked))
}

/** What says where it was. The rest are functions, signals and, at the start, the whole configuration with its secrets. */
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

/** Remembers, and forgets the oldest. */
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
