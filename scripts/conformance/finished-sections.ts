import type { Behaviour } from './data.ts'
import type { JoinedBehaviours } from './join.ts'

/** Sections that are done: nothing in them may be open. */
const finished = ['A1', 'A2', 'A3', 'A4', 'A5', 'A6', 'C17', 'D1', 'D2', 'D3', 'D4']
/** Sections of which what the seed text itself says is done. */
const textFinished = [
  'B1',
  'B2',
  'B3',
  'B4',
  'B5',
  'B6',
  'B7',
  'B8',
  'C1',
  'C2',
  'C3',
  'C4',
  'C5',
  'C6',
  'C7',
  'C8',
  'C9',
  'C10',
  'C11',
  'C12',
  'C13',
  'C14',
  'C15',
  'C16',
  'E1',
  'E2',
  'E3',
  'E4',
  'E5',
  'E6',
]

/** The rows that keep a finished section from being finished. */
export function unfinishedRows(behaviours: JoinedBehaviours): string[] {
  return [...behaviours.values()].flatMap(({ row, status }) => {
    if (!isFinished(row)) return []
    if (status === 'open') return [`${row.id} is open, but section ${row.section} is finished: ${row.says}`]
    if (status === 'partly' && row.by.includes('S'))
      return [`${row.id} is shown only partly, but section ${row.section} is finished: ${row.missing}`]
    return []
  })
}

function isFinished({ section, by }: Behaviour): boolean {
  return finished.includes(section) || (textFinished.includes(section) && by.includes('S'))
}
