import type { About, Asker } from '../asker.ts'

/** A turn is a message of the user with all that follows; it has its number unless the program gave it a name. */
export function turnOf(
  asker: Asker,
  messages: readonly { readonly role: string }[],
): NonNullable<About['envelope']> {
  const { turn = String(messages.filter(({ role }) => role === 'user').length) } = asker.moment
  return { turn }
}
