/** Data goes to stdout, everything meant for a person to stderr: a pipe then carries data only. */
export function print(data: unknown): void {
  process.stdout.write(typeof data === 'string' ? `${data}\n` : `${JSON.stringify(data, undefined, 2)}\n`)
}

export function tell(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** Columns under one another. */
export function table(rows: readonly (readonly string[])[]): string {
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

/** What agents wrote must not steer the terminal of whoever reads it. */
export function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '\ufffd')
}
