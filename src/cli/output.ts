import { visibleJson, visibleLine, visibleText } from '../engine/core/values/visible-text.ts'

/**
 * Data goes to stdout and messages for people go to stderr, so that a pipe carries only data. Both may hold text from
 * agents, which must not send escape sequences to the user's terminal, nor hide or reorder what it shows.
 */
export function printOutput(data: unknown): void {
  process.stdout.write(`${typeof data === 'string' ? visibleText(data) : visibleJson(data, 2)}\n`)
}

export function printMessage(text: string): void {
  process.stderr.write(`${visibleText(text)}\n`)
}

/** Empties the screen, for what is drawn again and again. */
export function clearScreen(): void {
  process.stderr.write('\u001b[H\u001b[J')
}

/** Pads the cells so that columns line up. A cell is one line. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const shown = rows.map((row) => row.map(visibleLine))
  const widths = shown.reduce<number[]>(
    (known, row) => row.map((cell, column) => Math.max(known[column] ?? 0, cell.length)),
    [],
  )
  return shown
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
