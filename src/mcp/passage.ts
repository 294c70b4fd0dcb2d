import type { Calls, Held, McpToolCall } from './calls.ts'
import type { Packet } from './rpc/packet.ts'

/** What becomes of one message of a client. */
export type Fate =
  | {
      readonly kind: 'pass'
      readonly key?: string
      /** It is a tool call that was let through. */
      readonly call?: McpToolCall
      readonly held?: Held
      /** What to send instead of the bytes that came. */
      readonly text?: string
    }
  | { readonly kind: 'drop'; readonly answer?: string }

export const passed: Fate = { kind: 'pass' }

/** What becomes of a packet. */
export interface AdmittedMessage {
  readonly forward: Buffer | undefined
  readonly answer: string | undefined
  /** Ids of the tool calls that go to the server. */
  readonly sent: readonly unknown[]
}

/** Puts a packet together again; the bytes that came where nothing of it was changed. */
export function assembleMessage(packet: Packet, fates: readonly Fate[], calls: Calls): AdmittedMessage {
  const { raw, parts } = packet
  // Decided one by one, and sent together: what was cancelled meanwhile stays here.
  const final = fates.map((fate) => (isCancelled(fate, calls) ? dropped : fate))
  const sent = final.flatMap((fate) => (fate.kind === 'pass' && fate.call !== undefined ? [fate.call] : []))
  for (const fate of final)
    if (fate.kind === 'pass' && fate.key !== undefined && fate.call !== undefined)
      calls.put(fate.key, fate.call)
  return {
    forward: final.every((fate) => fate === passed || isUntouched(fate)) ? raw : changed(parts, final),
    answer: answerOf(final, parts !== undefined),
    sent: sent.map(({ id }) => id),
  }
}

const dropped: Fate = { kind: 'drop' }

function isCancelled(fate: Fate, calls: Calls): boolean {
  return fate.kind === 'pass' && fate.key !== undefined && calls.get(fate.key) !== fate.held
}

function isUntouched(fate: Fate): boolean {
  return fate.kind === 'pass' && fate.text === undefined
}

function changed(parts: readonly Buffer[] | undefined, fates: readonly Fate[]): Buffer | undefined {
  const kept = fates.flatMap((fate, index): Buffer[] => {
    if (fate.kind === 'drop') return []
    const part = parts?.[index]
    return fate.text !== undefined ? [Buffer.from(fate.text)] : part === undefined ? [] : [part]
  })
  if (kept.length === 0) return undefined
  return parts === undefined ? kept[0] : messageList(kept)
}

function answerOf(fates: readonly Fate[], isBatch: boolean): string | undefined {
  const answers = fates.flatMap((fate) =>
    fate.kind === 'drop' && fate.answer !== undefined ? [fate.answer] : [],
  )
  return isBatch && answers.length > 0 ? `[${answers.join(',')}]` : answers[0]
}

/** The bytes of messages as the bytes of a list of them. */
export function messageList(parts: readonly Buffer[]): Buffer {
  const comma = Buffer.from(',')
  const between = parts.flatMap((part, index) => (index === 0 ? [part] : [comma, part]))
  return Buffer.concat([Buffer.from('['), ...between, Buffer.from(']')])
}
