import { structuredPatch } from 'diff'
import { visibleText } from '../engine/core/values/visible-text.ts'

/** Texts that differ more than this are shown as replaced: a hostile file must not make the comparison slow. */
const MAX_CHANGED_LINES = 1_000

/** Returns a unified diff without file names. It is empty if all lines are equal. */
export function lineDiff(before: string, after: string): string {
  const [from, to] = [withLastLineEnd(before), withLastLineEnd(after)]
  const patch = structuredPatch('', '', from, to, '', '', { context: 3, maxEditLength: MAX_CHANGED_LINES })
  return (patch?.hunks ?? [replaceAll(from, to)])
    .flatMap(({ oldStart, newStart, lines }) => [
      `@@ -${oldStart} +${newStart} @@`,
      ...lines.map(visibleText),
    ])
    .join('\n')
}

/** A missing line end at the end of a file is not a change. */
function withLastLineEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

function replaceAll(before: string, after: string) {
  const lines = (text: string, sign: string) =>
    (text.match(/[^\n]*\n/g) ?? []).map((line) => sign + line.slice(0, -1))
  return { oldStart: 1, newStart: 1, lines: [...lines(before, '-'), ...lines(after, '+')] }
}
