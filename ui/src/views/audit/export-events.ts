import { visibleJson } from '../../../../src/engine/core/values/visible-text.ts'
import { call } from '../../gateway/call.ts'
import type { EventFilter, EventSummary } from '../../parts/filter/filter.ts'
import { csvCell } from './csv-cell.ts'

const PAGE = 200
/** A browser keeps the file in memory until it is saved; larger exports are for the command line. */
const MAX_EVENTS = 200_000

const columns = [
  'created_at',
  'event_id',
  'event',
  'session_id',
  'agent',
  'project',
  'tool',
  'what',
  'kind',
  'rewritten',
  'opened',
  'failed',
  'hook_name',
  'reason',
  'code',
  'duration_ms',
] as const satisfies readonly (keyof EventSummary)[]

/** Reads every event that passes the filter and saves it as a file. */
export async function exportEvents(
  filter: EventFilter,
  format: 'ndjson' | 'csv',
  onProgress: (events: number) => void,
): Promise<void> {
  const lines: string[] = format === 'csv' ? [columns.join(',')] : []
  let cursor: string | undefined
  let count = 0
  do {
    const page = await call('events.list', { ...filter, limit: PAGE, cursor })
    for (const event of page.events) lines.push(format === 'csv' ? csvLine(event) : visibleJson(event))
    count += page.events.length
    onProgress(count)
    cursor = page.nextCursor
  } while (cursor !== '' && count < MAX_EVENTS)
  save(new Blob([lines.join('\n'), '\n']), `hookhelm-events.${format}`)
}

function csvLine(event: EventSummary): string {
  return columns.map((column) => csvCell(event[column])).join(',')
}

function save(content: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
