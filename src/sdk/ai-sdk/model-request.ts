import type { LanguageModelMiddleware } from 'ai'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { type AgentHooks, blocked, type HookCallOptions, refusalOf } from '../agent-hooks.ts'
import { restoreUnchanged } from '../clone-for-hooks.ts'
import { type MessageFormat, type PromptEdit, PromptEdits } from '../prompt-edits.ts'

interface ModelRequest {
  readonly model: string
  readonly params: Request
}

/** Sends requests to the model through the hooks. */
export interface ModelRequests {
  /** Starts the session, submits a new prompt to the hooks, and repeats their changes of earlier prompts. */
  prepare(ask: ModelRequest): Promise<Request>
  /** Dispatches `model_request`. */
  transform(ask: ModelRequest): Promise<Request>
}

/** How the session began, for `session_start`. */
export type SessionSource = 'startup' | 'resume'

export function createModelRequests(
  agentHooks: AgentHooks,
  source: SessionSource = 'startup',
): ModelRequests {
  const edits = new PromptEdits(messageFormat)
  // A retry has the same prompt, which must not be submitted twice.
  const submitted = new WeakMap<Prompt, Promise<void>>()
  let sessionContext: Promise<readonly string[]> | undefined

  async function startSession(model: string): Promise<readonly string[]> {
    const { context = [] } = await agentHooks.transform('session_start', { source, model })
    return context
  }

  async function submitPrompt(prompt: Prompt, signal: AbortSignal | undefined): Promise<void> {
    const message = newestUserMessage(prompt)
    if (message === undefined || !agentHooks.listens('user_prompt_submit')) return
    const text = promptText(message)
    const about = { envelope: turnEnvelope(agentHooks, prompt), signal }
    const decision = await agentHooks.gate('user_prompt_submit', { prompt: text, source: 'sdk' }, about)
    signal?.throwIfAborted()
    const refusal = refusalOf(decision)
    if (refusal !== undefined) throw blocked(refusal)
    edits.record(prompt, text, decision)
  }

  async function transform({ model, params }: ModelRequest): Promise<Request> {
    if (!agentHooks.listens('model_request')) return params
    // Hooks see neither the headers, which carry API keys, nor the signal.
    const { abortSignal, headers, ...request } = params
    const about = { envelope: turnEnvelope(agentHooks, params.prompt), signal: abortSignal }
    const { input } = await agentHooks.transform('model_request', { model, request }, about)
    if (input === undefined) return params
    const changed = restoreUnchanged(structuredClone(input), request) as Omit<
      Request,
      'abortSignal' | 'headers'
    >
    return { ...changed, ...definedFields({ abortSignal, headers }) }
  }

  return {
    transform,
    async prepare({ model, params }) {
      const { prompt, abortSignal } = params
      sessionContext ??= startSession(model)
      const context = await sessionContext
      let submission = submitted.get(prompt)
      if (submission === undefined) {
        submission = submitPrompt(prompt, abortSignal)
        submitted.set(prompt, submission)
      }
      await submission
      const changed = addInstructions(edits.apply(prompt), context)
      return transform({ model, params: changed === prompt ? params : { ...params, prompt: changed } })
    },
  }
}

export type Request = Parameters<NonNullable<LanguageModelMiddleware['transformParams']>>[0]['params']
type Prompt = Request['prompt']
type Message = Prompt[number]
type UserMessage = Extract<Message, { role: 'user' }>

function promptText(message: UserMessage): string {
  return message.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

/** The last message, if it is the user's. */
function newestUserMessage(prompt: Prompt): UserMessage | undefined {
  const last = prompt.at(-1)
  return last?.role === 'user' ? last : undefined
}

function editMessage(message: UserMessage, { text, context }: PromptEdit): UserMessage {
  const added = context.map((note) => ({ type: 'text' as const, text: note }))
  if (text === undefined) return { ...message, content: [...message.content, ...added] }
  const others = message.content.filter((part) => part.type !== 'text')
  return { ...message, content: [{ type: 'text', text }, ...others, ...added] }
}

/** Adds context after the instructions, where it is the same in every request. */
function addInstructions(prompt: Prompt, context: readonly string[]): Prompt {
  if (context.length === 0) return prompt
  const first = prompt.findIndex(({ role }) => role !== 'system')
  const at = first < 0 ? prompt.length : first
  return [...prompt.slice(0, at), { role: 'system', content: context.join('\n') }, ...prompt.slice(at)]
}

const messageFormat: MessageFormat<Message> = {
  userText: (message) => (message.role === 'user' ? promptText(message) : undefined),
  applyEdit: (message, edit) => (message.role === 'user' ? editMessage(message, edit) : message),
}

/** A turn begins with a message of the user. Its name is the number of that message unless the program names it. */
export function turnEnvelope(
  agentHooks: AgentHooks,
  messages: readonly { readonly role: string }[],
): NonNullable<HookCallOptions['envelope']> {
  const { turn = String(messages.filter(({ role }) => role === 'user').length) } = agentHooks.envelope
  return { turn }
}
