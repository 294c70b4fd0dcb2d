import type { AgentHooks } from '../agent-hooks.ts'
import { restoreUnchanged } from '../clone-for-hooks.ts'
import { Edits } from '../edits.ts'
import { blocked, refusalOf } from '../refusal.ts'
import { instructed, newest, type Prompt, promptText, type Request, spelling } from './prompt.ts'
import { turnOf } from './turn.ts'

export interface Ask {
  readonly model: string
  readonly params: Request
}

/** What happens to a request on its way to the model. */
export interface Requests {
  /** The session begins, a new prompt is asked about, and what hooks changed in earlier ones is changed again. */
  prepare(ask: Ask): Promise<Request>
  /** `model_request` */
  transform(ask: Ask): Promise<Request>
}

export function createRequests(agentHooks: AgentHooks): Requests {
  const edits = new Edits(spelling)
  // A request that is tried again has the same prompt, which was asked about already.
  const asked = new WeakMap<Prompt, Promise<void>>()
  let begun: Promise<readonly string[]> | undefined

  async function begin(model: string): Promise<readonly string[]> {
    const { context = [] } = await agentHooks.transform('session_start', { source: 'startup', model })
    return context
  }

  async function askAbout(prompt: Prompt, signal: AbortSignal | undefined): Promise<void> {
    const message = newest(prompt)
    if (message === undefined || !agentHooks.listens('user_prompt_submit')) return
    const text = promptText(message)
    const about = { envelope: turnOf(agentHooks, prompt), signal }
    const decision = await agentHooks.gate('user_prompt_submit', { prompt: text, source: 'sdk' }, about)
    signal?.throwIfAborted()
    const refusal = refusalOf(decision)
    if (refusal !== undefined) throw blocked(refusal)
    const { input: patch, context = [] } = decision
    if (typeof patch !== 'string' && context.length === 0) return
    edits.note(prompt, text, { ...(typeof patch === 'string' ? { text: patch } : {}), context })
  }

  async function transform({ model, params }: Ask): Promise<Request> {
    if (!agentHooks.listens('model_request')) return params
    // Neither keys nor signals are anybody's business.
    const { abortSignal, headers, ...request } = params
    const about = { envelope: turnOf(agentHooks, params.prompt), signal: abortSignal }
    const { input: patch } = await agentHooks.transform('model_request', { model, request }, about)
    if (patch === undefined) return params
    const changed = restoreUnchanged(structuredClone(patch), request) as Omit<
      Request,
      'abortSignal' | 'headers'
    >
    return {
      ...changed,
      ...(abortSignal === undefined ? {} : { abortSignal }),
      ...(headers === undefined ? {} : { headers }),
    }
  }

  return {
    transform,
    async prepare({ model, params }) {
      const { prompt, abortSignal } = params
      begun ??= begin(model)
      const context = await begun
      let about = asked.get(prompt)
      if (about === undefined) {
        about = askAbout(prompt, abortSignal)
        asked.set(prompt, about)
      }
      await about
      const told = instructed(edits.apply(prompt), context)
      return transform({ model, params: told === prompt ? params : { ...params, prompt: told } })
    },
  }
}
