import type { Finding, Level } from '../host.ts'

/** One thing that was tried or looked at. */
export interface Check extends Finding {
  /** Nothing for the gateway itself. */
  readonly agent?: string
  readonly level?: Level
}

export const good = (text: string): Finding => ({ state: 'ok', text })
export const doubtful = (text: string, hint: string): Finding => ({ state: 'warn', text, hint })
export const bad = (text: string, hint: string): Finding => ({ state: 'bad', text, hint })
