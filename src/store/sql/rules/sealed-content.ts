import { parseStoredJson } from '../../../safe/json.ts'
import type { SealedPath, Secrets } from '../../../safe/secret.ts'
import { openSealed } from '../audit/event-queries.ts'

/** An object that is stored as a sealed text. */
export type SealedContent = Readonly<Record<string, unknown>>

export function sealContent(secrets: Secrets, content: SealedContent, path: SealedPath): string {
  return secrets.encrypt(JSON.stringify(content), path)
}

/** Null if the key that sealed it is gone. */
export function openContent(secrets: Secrets, sealed: string, path: SealedPath): SealedContent | null {
  const text = openSealed(secrets, sealed, path)
  return text === undefined ? null : (parseStoredJson(text) as SealedContent)
}
