import { openGatewayConnection } from '../plugin/gateway-connection.js'
import { replaceEntries, replyReader, setEntries } from '../plugin/reply.js'
import { createSessionParents } from '../plugin/session-parents.js'

const settings = /* hookhelm:settings */ {}

/** The bus events that the plugin reports. Hooks report the others, or they are too frequent. */
const reportedEvents = new Set([
  'session.created',
  'session.deleted',
  'session.compacted',
  'session.error',
  'session.idle',
  'permission.asked',
  'permission.replied',
  'file.edited',
])

const anything = replyReader('block', 'ask', 'args', 'prompt', 'output', 'context')
const aboutCall = replyReader('block', 'args')
const aboutPrompt = replyReader('block', 'prompt', 'context')
const aboutOutput = replyReader('output')
const aboutContext = replyReader('context')

export const Hookhelm = async ({ directory, client }) => {
  const link = openGatewayConnection(settings)
  const sessionParents = createSessionParents()
  const refused = new Set()
  const idleSessions = new Set()

  /** An event for the gateway: the host’s own payload, and its session. */
  const native = (input, output) => ({ input, output, directory, sub: sessionParents.find(input.sessionID) })

  /** Only the message part reports a tool that throws. */
  function failedCall({ type, properties: { part } = {} }) {
    if (type !== 'message.part.updated' || part?.type !== 'tool' || part.state?.status !== 'error')
      return false
    // A refused call is not a failed one.
    return !refused.delete(part.callID)
  }

  /** OpenCode reports idle twice after an error. */
  function isReported({ type, properties }) {
    const { sessionID, status } = properties ?? {}
    if (type === 'session.status' && status?.type === 'busy') idleSessions.delete(sessionID)
    if (type !== 'session.idle') return reportedEvents.has(type)
    const wasIdle = idleSessions.has(sessionID)
    idleSessions.add(sessionID)
    return !wasIdle
  }

  /** For a refused prompt, the host itself shows only a general error. */
  function explain(reason) {
    try {
      const shown = client?.tui?.showToast({ body: { title: 'Hookhelm', message: reason, variant: 'error' } })
      Promise.resolve(shown).catch(() => {})
    } catch {}
    // Only without a terminal interface, which the line would damage.
    if (process.argv[2] === 'run')
      link.warnOnce(reason.startsWith('hookhelm: ') ? reason : `hookhelm: ${reason}`)
  }

  const hooks = {
    async event({ event }) {
      const { type, properties } = event
      if (type === 'session.created') sessionParents.add(properties?.info?.id, properties?.info?.parentID)
      if (!isReported(event) && !failedCall(event)) return
      await link.observe(
        type,
        { event, directory, sub: sessionParents.find(properties?.sessionID) },
        anything,
      )
    },

    async 'tool.execute.before'(input, output) {
      try {
        const { block, args } = await link.gate('tool.execute.before', native(input, output), aboutCall)
        if (block !== undefined) throw new Error(block)
        if (args !== undefined) replaceEntries(output.args, args)
      } catch (error) {
        refused.add(input.callID)
        throw error
      }
    },

    async 'tool.execute.after'(input, output) {
      const reply = await link.consult('tool.execute.after', native(input, output ?? null), aboutOutput)
      if (reply.output !== undefined && output) setEntries(output, reply.output)
    },

    async 'chat.message'(input, output) {
      try {
        const { block, prompt, context } = await link.gate('chat.message', native(input, output), aboutPrompt)
        if (block !== undefined) throw new Error(block)
        if (prompt !== undefined) sayInstead(output.parts, prompt)
        if (context !== undefined) output.parts.push(addedPart(output, context))
      } catch (error) {
        explain(error.message)
        throw error
      }
    },

    async 'command.execute.before'(input, output) {
      link.observe('command.execute.before', native(input, output), anything)
    },

    async 'experimental.session.compacting'(input, output) {
      const { context } = await link.consult(
        'experimental.session.compacting',
        native(input, output),
        aboutContext,
      )
      if (context !== undefined) output.context.push(context)
    },

    async dispose() {
      await link.flush()
      link.close()
    },
  }
  if (settings.chatty !== true) return hooks
  return {
    ...hooks,
    async 'chat.params'({ sessionID, agent, model }, output) {
      // The provider's options contain the API key.
      const input = { sessionID, agent, model: { id: model?.id, providerID: model?.providerID } }
      const reply = await link.consult('chat.params', native(input, output), aboutOutput)
      if (reply.output !== undefined) setEntries(output, reply.output)
    },
  }
}

const isSaid = (part) => part.type === 'text' && part.synthetic !== true

/** Replaces the first text part of the user and removes the others. */
function sayInstead(parts, text) {
  const first = parts.findIndex(isSaid)
  for (let i = parts.length - 1; i > first; i--) if (isSaid(parts[i])) parts.splice(i, 1)
  if (first !== -1) parts[first].text = text
}

/** OpenCode shows parts in the order of their ids. */
function addedPart({ message, parts }, text) {
  const last = parts.at(-1)?.id ?? `prt_${message.id}`
  return {
    id: `${last}h`,
    sessionID: message.sessionID,
    messageID: message.id,
    type: 'text',
    text,
    synthetic: true,
  }
}
