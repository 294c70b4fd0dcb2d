/** What a coding agent may send at once: its payload holds whole files, and some of them the conversation. */
export const AGENT_LIMITS = { maxBytes: 8 * 1_048_576 + 65_536, maxKeys: 200_000, maxDepth: 128 } as const
