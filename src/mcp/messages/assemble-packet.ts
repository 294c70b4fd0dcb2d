import type { HeldCall, McpToolCall, PendingRequests } from '../pending-requests.ts'
import type { Packet } from './packet.ts'
import type { HeaderChanges } from './tool-headers.ts'

/** What happens to one message of a client. */
export type MessageDisposition =
  | {
      readonly kind: 'pass'
      readonly key?: string
      /** Set for a tool call that the hooks allow. */
      readonly call?: McpToolCall
      readonly held?: HeldCall
      /** Replaces the bytes of the client. */
      readonly text?: string
      /** HTTP headers that follow from the new bytes. */
      readonly headers?: HeaderChanges
    }
  | { readonly kind: 'drop'; readonly answer?: string }

export const PASS: MessageDisposition = { kind: 'pass' }

/** What happens to a packet. */
export interface AdmittedPacket {
  readonly forward: Buffer | undefined
  readonly answer: string | undefined
  /** Ids of the tool calls that go to the server. */
  readonly sent: readonly unknown[]
  /** HTTP headers that change with the message. */
  readonly headers?: HeaderChanges
}

/** Joins the messages of a packet again. If none of them changed, the bytes of the client stay. */
export function assemblePacket(
  packet: Packet,
  dispositions: readonly MessageDisposition[],
  calls: PendingRequests,
): AdmittedPacket {
  const { raw, parts } = packet
  // The client may have cancelled one message while the hooks decided about another.
  const final = dispositions.map((disposition) => (isCancelled(disposition, calls) ? DROP : disposition))
  const sent = final.flatMap((disposition) =>
    disposition.kind === 'pass' && disposition.call !== undefined ? [disposition.call] : [],
  )
  for (const disposition of final)
    if (disposition.kind === 'pass' && disposition.key !== undefined && disposition.call !== undefined)
      calls.set(disposition.key, disposition.call)
  const headers = final.flatMap((disposition) =>
    disposition.kind === 'pass' && disposition.headers !== undefined ? [disposition.headers] : [],
  )
  return {
    ...(headers.length === 0 ? {} : { headers: Object.assign({}, ...headers) }),
    forward: final.every((disposition) => disposition === PASS || isUntouched(disposition))
      ? raw
      : joinKept(parts, final),
    answer: answerOf(final, parts !== undefined),
    sent: sent.map(({ id }) => id),
  }
}

const DROP: MessageDisposition = { kind: 'drop' }

function isCancelled(disposition: MessageDisposition, calls: PendingRequests): boolean {
  return (
    disposition.kind === 'pass' &&
    disposition.key !== undefined &&
    calls.get(disposition.key) !== disposition.held
  )
}

function isUntouched(disposition: MessageDisposition): boolean {
  return disposition.kind === 'pass' && disposition.text === undefined
}

function joinKept(
  parts: readonly Buffer[] | undefined,
  dispositions: readonly MessageDisposition[],
): Buffer | undefined {
  const kept = dispositions.flatMap((disposition, index): Buffer[] => {
    if (disposition.kind === 'drop') return []
    const part = parts?.[index]
    return disposition.text !== undefined ? [Buffer.from(disposition.text)] : part === undefined ? [] : [part]
  })
  if (kept.length === 0) return undefined
  return parts === undefined ? kept[0] : joinMessages(kept)
}

function answerOf(dispositions: readonly MessageDisposition[], isBatch: boolean): string | undefined {
  const answers = dispositions.flatMap((disposition) =>
    disposition.kind === 'drop' && disposition.answer !== undefined ? [disposition.answer] : [],
  )
  return isBatch && answers.length > 0 ? `[${answers.join(',')}]` : answers[0]
}

/** Returns a JSON array of messages. */
export function joinMessages(parts: readonly Buffer[]): Buffer {
  const comma = Buffer.from(',')
  const between = parts.flatMap((part, index) => (index === 0 ? [part] : [comma, part]))
  return Buffer.concat([Buffer.from('['), ...between, Buffer.from(']')])
}
