import { expect, test } from 'vitest'
import { csvCell } from '../../ui/src/views/audit/csv-cell.ts'

/** How spreadsheets of different locales cut a line: at a separator, unless a quoted cell began right after one. */
function cells(line: string, separator: string): readonly string[] {
  return (line.match(new RegExp(`(?:"(?:[^"]|"")*"|[^${separator}])*`, 'g')) ?? []).flatMap((part) => [
    part,
    ...part.split(separator),
  ])
}

test('no cell begins like a formula, whatever character separates cells', () => {
  for (const sign of ['=', '+', '-', '@', '|', '%', '\uff1d'])
    for (const before of [
      '',
      'x;',
      'x,',
      'x\t',
      'x|',
      'x\r',
      'x\n',
      ' ',
      '"',
      'x;"',
      'x; ',
      "x;'",
      '\u200b',
      'x;\u00a0',
    ])
      for (const separator of [',', ';', '\t', '|']) {
        const line = ['7', csvCell(`${before}${sign}cmd()`), csvCell('y')].join(',')
        for (const cell of cells(line, separator))
          expect(cell.replace(/^["\s]+/, ''), JSON.stringify({ sign, before, separator })).not.toMatch(
            /^[=+\-@|%\uff1d]cmd/,
          )
        expect(line).not.toMatch(/[\t\r\n\u200b]/)
      }
})

test('ordinary texts and numbers stay as they are', () => {
  expect([12, null, 'git push -f', 'say "hi", x'].map(csvCell)).toEqual([
    '12',
    '',
    '"git push -f"',
    '"say ""hi"", x"',
  ])
})
