import { openFamily } from '../plugin/family.js'
import { replaceEntries, setEntries } from '../plugin/in-place.js'
import { openLink } from '../plugin/link.js'
import { reader } from '../plugin/reply.js'

const settings = /* hookhelm:settings */ {}

/** What is told of the bus. Everything else on it is too much, or told by a hook. */
const told = new Set([
  'session.created',
  'session.deleted',
  'session.compacted',
  'session.error',
  'session.idle',
  'permission.asked',
  'permission.replied',
  'file.edited',
])

const anything = reader('block', 'ask', 'args', 'prompt', 'output', 'context')
const aboutCall = reader('block', 'args')
const aboutPrompt = reader('block', 'prompt', 'context')
const aboutOutput = reader('output')
const aboutContext = reader('context')

export const Hookhelm = async ({ directory, client }) => {
  const link = openLink(settings)
  const family = openFamily()
  const refused = new Set()
  const resting = new Set()

  /** An event as the gateway gets it: the host’s own words, and where they were said. */
  const native = (input, output) => ({ input, output, directory, sub: family.of(input.sessionID) })

  /** A tool that throws has no other report than its part of the message. */
  function failedCall({ type, properties: { part } = {} }) {
    if (type !== 'message.part.updated' || part?.type !== 'tool' || part.state?.status !== 'error')
      return false
    // One that we refused did not fail.
    return !refused.delete(part.callID)
  }

  /** It is told to be idle twice after an error. */
  function isNews({ type, properties }) {
    const { sessionID, status } = properties ?? {}
    if (type === 'session.status' && status?.type === 'busy') resting.delete(sessionID)
    if (type !== 'session.idle') return told.has(type)
    const wasResting = resting.has(sessionID)
    resting.add(sessionID)
    return !wasResting
  }

  /** Of a refused prompt the host itself says only that something went wrong. */
  function explain(reason) {
    try {
      const shown = client?.tui?.showToast({ body: { title: 'Hookhelm', message: reason, variant: 'error' } })
      Promise.resolve(shown).catch(() => {})
    } catch {}
    // Without a screen that a line would spoil.
    if (process.argv[2] === 'run')
      link.warnOnce(reason.startsWith('hookhelm: ') ? reason : `hookhelm: ${reason}`)
  }

  const hooks = {
    async event({ event }) {
      const { type, properties } = event
      if (type === 'session.created') family.adopt(properties?.info?.id, properties?.info?.parentID)
      if (!isNews(event) && !failedCall(event)) return
      await link.observe(type, { event, directory, sub: family.of(properties?.sessionID) }, anything)
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
      // The provider is left out: its options hold the key.
      const input = { sessionID, agent, model: { id: model?.id, providerID: model?.providerID } }
      const reply = await link.consult('chat.params', native(input, output), aboutOutput)
      if (reply.output !== undefined) setEntries(output, reply.output)
    },
  }
}

const isSaid = (part) => part.type === 'text' && part.synthetic !== true

/** The first words of the user become the new ones, the rest of them goes. */
function sayInstead(parts, text) {
  const first = parts.findIndex(isSaid)
  for (let i = parts.length - 1; i > first; i--) if (isSaid(parts[i])) parts.splice(i, 1)
  if (first !== -1) parts[first].text = text
}

/** Parts are shown in the order of their ids. */
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
