import type { Envelope } from '../../engine/core/context.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import type { AnalyzeShell } from '../../engine/core/shell-effects.ts'
import { subjectOf } from '../../engine/dispatch/event-hooks.ts'
import { catalogue } from '../../engine/events/catalogue.ts'
import { createEffectsReader } from '../../engine/match/effects/call-effects.ts'
import type { MatchInput } from '../../engine/match/match-part.ts'

type RecordedRow = { readonly agent_id: string | null; readonly session_id: string | null }

/** What conditions were evaluated on, from a recorded request. Undefined if the request cannot be read. */
export function recordedInput(
  event: keyof typeof catalogue,
  request: unknown,
  row: RecordedRow,
  shell: AnalyzeShell,
): MatchInput | undefined {
  if (!isRecord(request)) return undefined
  const { payload } = request
  return {
    event,
    name: subjectOf(catalogue[event], payload),
    payload,
    envelope: envelopeOf(request, row),
    effects: createEffectsReader(shell),
  }
}

/** The recorded request holds the envelope as the caller sent it; the row has what the gateway added. */
function envelopeOf({ envelope }: Readonly<Record<string, unknown>>, row: RecordedRow): Envelope {
  return {
    ...(isRecord(envelope) ? envelope : {}),
    ...(row.agent_id === null ? {} : { agentId: row.agent_id }),
    ...(row.session_id === null ? {} : { session: row.session_id }),
  }
}
