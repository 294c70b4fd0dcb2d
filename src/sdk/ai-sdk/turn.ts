import type { AgentHooks, HookCallOptions } from '../agent-hooks.ts'

/** A turn is a message of the user with all that follows; it has its number unless the program gave it a name. */
export function turnOf(
  agentHooks: AgentHooks,
  messages: readonly { readonly role: string }[],
): NonNullable<HookCallOptions['envelope']> {
  const { turn = String(messages.filter(({ role }) => role === 'user').length) } = agentHooks.envelope
  return { turn }
}
