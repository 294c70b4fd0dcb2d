import { isRecord } from '../../engine/core/check.ts'
import { plain } from '../output.ts'

type Fields = Readonly<Record<string, unknown>>

const clock = new Intl.DateTimeFormat('sv', { timeStyle: 'medium' })

/** A session as it went: a heading for each turn, sub-agents further in, and what was not simply allowed. */
export function timelineText({ events }: Fields): string {
  const rows = Array.isArray(events) ? events.filter(isRecord) : []
  if (rows.length === 0) return 'none'
  const lines: string[] = []
  let turn: unknown
  for (const row of rows) {
    const moment = isRecord(row.moment) ? row.moment : {}
    if (moment.turn !== undefined && moment.turn !== turn) lines.push(plain(`turn ${String(moment.turn)}`))
    turn = moment.turn ?? turn
    lines.push(line(row, moment))
  }
  return lines.join('\n')
}

function line(row: Fields, { depth, lane, tool }: Fields): string {
  const inset = '  '.repeat(1 + (typeof depth === 'number' ? depth : 0))
  const parts = [
    typeof row.created_at === 'number' ? clock.format(row.created_at) : '',
    lane === undefined ? '' : `[${String(lane)}]`,
    String(row.event),
    tool === undefined ? '' : String(tool),
    row.kind === 'allow' ? '' : `→ ${String(row.kind)}`,
    row.by_hook === null || row.by_hook === undefined ? '' : `by ${String(row.by_hook)}`,
    row.code === null || row.code === undefined ? '' : `(${String(row.code)})`,
    `  ${String(row.event_id)}`,
  ]
  return inset + plain(parts.filter((part) => part !== '').join(' '))
}
