/** What the shell sees. `docs/cli.md` is kept in step by a test. */
export const exitCodes = {
  ok: 0,
  /** Wrong arguments, a file that cannot be used, anything that is not a decision. */
  failed: 1,
  blocked: 2,
  asks: 3,
  /** A repository's hook file that nobody agreed to yet. */
  untrusted: 4,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]
