/**
 * Whether a name is not one of these but could be taken for one. Readers that do not care for case take `Method` for
 * `method`, and some fold letters of other alphabets too: such a message is one thing to us and another to the server.
 */
export function lookalikeOf(known: readonly string[]): (name: string) => boolean {
  const exact = new Set(known)
  const folded = new Set(known.map(fold))
  return (name) => !exact.has(name) && folded.has(fold(name))
}

function fold(text: string): string {
  return text.normalize('NFKC').replace(invisible, '').toUpperCase().toLowerCase()
}

const invisible = /[\s\p{Cc}\p{Cf}]/gu
