import { isRecord } from './schema/check.ts'
import { maskSecrets } from './values/mask-secrets.ts'

interface Titled {
  readonly id?: string | undefined
  readonly name?: string | null | undefined
  readonly event: string
  readonly handler_type: string
  readonly config?: unknown
}

const MAX_LENGTH = 80

/** What people call a hook: its name, the id that its author gave it, or its event and what it runs: `stop: node check.mjs`. */
export function hookTitle({ id, name, event, handler_type, config }: Titled): string {
  if (name) return name
  if (id !== undefined && !isStoredId(id)) return id
  const text = `${event}: ${runText(handler_type, isRecord(config) ? config : {})}`
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text
}

function runText(type: string, { command, url, decision }: Readonly<Record<string, unknown>>): string {
  const told = type === 'answer' ? decision : type === 'http' ? withoutQuery(url) : command
  const words = Array.isArray(told) ? told.join(' ') : told
  if (typeof words !== 'string' || words === '') return type
  return type === 'answer' ? `answer ${words}` : maskSecrets(words.replace(/\s+/g, ' '), '[REDACTED]')
}

function withoutQuery(url: unknown): unknown {
  return typeof url === 'string' ? url.split(/[?#]/, 1)[0] : undefined
}

/** What people call a hook that they know by a record: it may be gone, and its id may be one that the store made. */
export function hookLabel(name: string | null | undefined, id: string | null | undefined): string {
  return name || (id == null || isStoredId(id) ? 'a hook without a name' : id)
}

/** Whether the store made the id; those of files are words. */
export function isStoredId(id: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)
}
