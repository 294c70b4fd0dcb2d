/** Data goes to stdout and messages for people go to stderr, so that a pipe carries only data. */
export function printOutput(data: unknown): void {
  process.stdout.write(typeof data === 'string' ? `${data}\n` : `${JSON.stringify(data, undefined, 2)}\n`)
}

export function printMessage(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** Pads the cells so that columns line up. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<number[]>(
    (known, row) => row.map((cell, column) => Math.max(known[column] ?? 0, cell.length)),
    [],
  )
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Text from agents must not send escape sequences to the user's terminal, nor hide or reorder what it shows. */
export function replaceControlCharacters(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd')
}
