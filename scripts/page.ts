import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** A generated page of the documentation. */
export interface Page {
  readonly path: string
  readonly text: string
}

/** Writes the page, or with `check` only compares; answers what is wrong. */
export function settlePage(page: Page, check: boolean): string | undefined {
  const before = readIfThere(page.path)
  if (before === page.text) return undefined
  if (check) return `${page.path} is out of date: run \`npm run docs\``
  mkdirSync(dirname(page.path), { recursive: true })
  writeFileSync(page.path, page.text)
  console.log(`wrote ${page.path}`)
  return undefined
}

/** Replaces one generated part of a page that is otherwise written by hand. */
export function replaceGenerated({ path, text }: Page, part: string, generated: string): Page {
  const opening = `<!-- generated: ${part} -->`
  const closing = '<!-- /generated -->'
  const start = text.indexOf(opening)
  const end = text.indexOf(closing, start)
  if (start < 0 || end < 0) throw new Error(`${path} needs the comments ${opening} and ${closing}`)
  return { path, text: `${text.slice(0, start)}${opening}\n${generated}\n${text.slice(end)}` }
}

export interface Table {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

export function markdownTable({ head, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

/** A pipe ends a cell even inside a code span, and `<x>` outside of one is taken for HTML. */
function cell(text: string): string {
  const spans = text.replaceAll('\n', ' ').split(/(`[^`]*`)/)
  return spans
    .map((part) => (part.startsWith('`') ? part : part.replaceAll('<', '&lt;')))
    .join('')
    .replaceAll('|', '\\|')
}

export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** Prints problems and makes the process fail; says so when there are none. */
export function report(problems: readonly string[], fine: string): void {
  for (const problem of problems) console.error(problem)
  if (problems.length === 0) console.log(fine)
  else process.exitCode = 1
}
