const CONTEXT = 3
/** Above this many comparisons the whole middle is shown as replaced. */
const MAX_CELLS = 4_000_000

type Row = readonly [sign: ' ' | '-' | '+', line: string]

/** A unified diff; empty when nothing changed. */
export function lineDiff(before: string, after: string): string {
  if (before === after) return ''
  const rows = compare(linesOf(before), linesOf(after))
  return hunks(rows).join('\n')
}

/** Escapes control characters and direction marks, which could hide content from the person who reviews it. */
export function visible(line: string): string {
  return line.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) =>
    character === '\t' ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
}

function linesOf(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

function compare(a: readonly string[], b: readonly string[]): Row[] {
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < Math.min(a.length, b.length) - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++
  const same = (line: string): Row => [' ', line]
  return [
    ...a.slice(0, head).map(same),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...a.slice(a.length - tail).map(same),
  ]
}

/** Longest common subsequence. */
function middle(a: readonly string[], b: readonly string[]): Row[] {
  const width = b.length + 1
  if (a.length * b.length > MAX_CELLS)
    return [...a.map((line): Row => ['-', line]), ...b.map((line): Row => ['+', line])]
  const common = new Uint32Array((a.length + 1) * width)
  const at = (i: number, j: number) => common[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const rows: Row[] = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      rows.push([' ', a[i++] ?? ''])
      j++
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1))) rows.push(['-', a[i++] ?? ''])
    else rows.push(['+', b[j++] ?? ''])
  }
  return rows
}

/** Changed rows with a few lines of context; `@@` lines give the line numbers in both texts. */
function hunks(rows: readonly Row[]): string[] {
  const near = rows.map((_, at) =>
    rows.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(([sign]) => sign !== ' '),
  )
  const lines: string[] = []
  let left = 1
  let right = 1
  for (const [at, [sign, line]] of rows.entries()) {
    if (near[at] && !near[at - 1]) lines.push(`@@ -${left} +${right} @@`)
    if (near[at]) lines.push(`${sign}${visible(line)}`)
    if (sign !== '+') left++
    if (sign !== '-') right++
  }
  return lines
}
