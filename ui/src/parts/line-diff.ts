interface MarkedLine {
  readonly text: string
  readonly differs: boolean
}

/** Beyond this the table of common lines costs too much; then only equal heads and tails are found. */
const MAX_CELLS = 1_000_000

/** The lines of both sides, marked where the other side lacks them (longest common subsequence). */
export function diffLines(
  before: readonly string[],
  after: readonly string[],
): { readonly left: readonly MarkedLine[]; readonly right: readonly MarkedLine[] } {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  )
    tail++
  const middle = commonLines(before.slice(head, before.length - tail), after.slice(head, after.length - tail))
  const mark = (lines: readonly string[], common: ReadonlySet<number>) =>
    lines.map((text, index) => ({
      text,
      differs: index >= head && index < lines.length - tail && !common.has(index - head),
    }))
  return { left: mark(before, middle.left), right: mark(after, middle.right) }
}

function commonLines(before: readonly string[], after: readonly string[]) {
  const left = new Set<number>()
  const right = new Set<number>()
  if (before.length * after.length > MAX_CELLS) return { left, right }
  const width = after.length + 1
  const longest = new Uint32Array((before.length + 1) * width)
  const at = (row: number, column: number) => longest[row * width + column] ?? 0
  for (let row = before.length - 1; row >= 0; row--)
    for (let column = after.length - 1; column >= 0; column--)
      longest[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1))
  let row = 0
  let column = 0
  while (row < before.length && column < after.length) {
    if (before[row] === after[column]) {
      left.add(row++)
      right.add(column++)
    } else if (at(row + 1, column) >= at(row, column + 1)) row++
    else column++
  }
  return { left, right }
}
