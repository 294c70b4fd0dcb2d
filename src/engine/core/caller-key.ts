import type { Envelope } from './context.ts'

/**
 * Whose events count together where a session counts: those of one process in one folder, if the gateway knows them, because
 * a caller may name another session in each event.
 */
export function callerKey({ process, cwd, session }: Envelope): string | undefined {
  if (process !== undefined && cwd !== undefined) return `process ${process} in ${cwd}`
  return session === undefined ? undefined : `session ${session}`
}

/** The turn in which the caller is. */
export function callerTurn({ process, processTurn, turn = '' }: Envelope): string {
  return process === undefined ? turn : (processTurn ?? turn)
}
