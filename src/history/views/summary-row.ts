import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { redact } from '../../safe/secrets/redact.ts'
import type { EventRecord } from '../audit-tables.ts'
import type { SealedSummary } from '../stored/audit-group.ts'
import type { RecordedSummary } from '../view-tables.ts'

const MAX_TITLE = 120
const MAX_NAME = 200
const MAX_FOLDER = 1_024

/** The row of an event in lists. It is stored in clear, so this is where its texts are redacted. */
export function summaryRow(record: EventRecord): SealedSummary {
  const summary = record.summary ?? olderSummary(record)
  return {
    tenant_id: record.tenant,
    event_id: record.event_id,
    event: record.event,
    session_id: record.session_id,
    agent_id: record.agent_id,
    agent: nameOf(summary.agent),
    folder: summary.folder === undefined ? null : redactFolder(summary.folder),
    lane: nameOf(summary.lane),
    tool: nameOf(summary.tool),
    what: lineOf(summary.what),
    kind: record.kind,
    rewritten: summary.rewritten ?? false,
    opened: lineOf(summary.opened),
    failed: summary.failed ?? 0,
    shadow: summary.shadow ?? 0,
    by_hook: nameOf(summary.by_hook),
    hook_name: nameOf(summary.hook_name),
    reason: lineOf(summary.reason),
    code: record.code,
    duration_ms: record.duration_ms,
    created_at: record.time,
    probe: summary.probe ?? false,
    title: titleOf(summary.prompt),
  }
}

/** Records of older versions have no summary, so only their position in the session is known. */
function olderSummary({ moment = {}, by_hook }: EventRecord): RecordedSummary {
  const { lane, tool } = moment
  const agent = moment.name ?? moment.agent
  return {
    ...definedFields({ agent, lane, tool }),
    ...(by_hook === null ? {} : { by_hook }),
  }
}

function nameOf(name: string | undefined): string | null {
  return name === undefined ? null : name.slice(0, MAX_NAME).toWellFormed()
}

function lineOf(text: string | undefined): string | null {
  return text === undefined ? null : redact(text) || null
}

function titleOf(prompt: string | undefined): string | null {
  if (prompt === undefined) return null
  return [...redact(prompt, MAX_TITLE * 4)].slice(0, MAX_TITLE).join('') || null
}

const folders = new Map<string, string | null>()

/** The events of a session share their folder, so the last ones are remembered. */
function redactFolder(folder: string): string | null {
  const known = folders.get(folder)
  if (known !== undefined) return known
  const line = redact(folder, MAX_FOLDER) || null
  if (folders.size >= 1_000) folders.clear()
  folders.set(folder, line)
  return line
}
