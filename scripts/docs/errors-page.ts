import { readFileSync } from 'node:fs'
import { errorTable } from '../../src/engine/core/errors/error-table.ts'
import { handlerErrors } from '../../src/engine/core/errors/handler-errors.ts'
import { serverErrors } from '../../src/engine/core/errors/server-errors.ts'
import { markdownTable, type Page } from '../page.ts'

/** Every area has a line; a new one without makes the page fail. */
const areas: Readonly<Record<string, string>> = {
  input:
    'What came from outside: the event that was dispatched, the text it came as, or the answer of a hook.',
  config: 'A hook, an event row or an option, when it is registered.',
  match: 'A matcher: while it is compiled, or while it is evaluated.',
  handler: 'What a hook runs.',
  outbound: 'A call to another machine.',
  secret: 'Encryption of stored secrets.',
  process: 'A command that a hook runs.',
  script: 'JavaScript that a hook runs in the sandbox.',
  prompt: 'A model that judges.',
  agent: 'An agent: one that a hook starts, or one that was stopped.',
  guard: 'Why a hook that matched did not fire.',
  engine: 'A dispatch as a whole.',
  reload: 'A hook file that changed while it was in use.',
  trust: 'Whether the hooks of a repository may run.',
  store: 'The database of a gateway.',
  auth: 'Who may come in, and how far.',
  gateway: 'A gateway, and what is asked of it.',
  runs: 'Runs of agents, and the runners that execute them.',
  approval: 'A person was asked about a call: [approvals](approvals.md).',
  delivery: 'Work that is done after the answer.',
  audit: 'What was recorded.',
  connect: 'The configuration of a coding agent.',
}

const allErrors = { ...errorTable, ...handlerErrors, ...serverErrors }
const tables = ['error-table', 'handler-errors', 'server-errors'].map(
  (name) => `src/engine/core/errors/${name}.ts`,
)

export function errorsPage(): Page {
  const meanings = readMeanings()
  const grouped = Object.groupBy(Object.entries(allErrors), ([code]) => code.slice(0, code.indexOf('.')))
  const sections = Object.entries(grouped).flatMap(([area, rows = []]) => [
    `## ${area}`,
    areaText(area),
    markdownTable({
      head: ['code', 'meaning', 'what to do'],
      rows: rows.map(([code, hint]) => [`\`${code}\``, meanings.get(code) ?? '', hint]),
    }),
  ])
  return { path: 'docs/errors.md', text: `${['# Errors', intro, ...sections].join('\n\n')}\n` }
}

const intro = `Everything Hookhelm raises is a \`HookError\` with a \`code\`, a message and a \`hint\`; the same codes stand in decisions,
traces and records. Codes are stable, messages are not: branch on the code.

Generated from \`src/engine/core/errors/error-table.ts\`, \`handler-errors.ts\` and \`server-errors.ts\` by \`npm run docs\`.`

function areaText(area: string): string {
  const text = areas[area]
  if (text === undefined) throw new Error(`error area ${area} has no line in ${import.meta.filename}`)
  return text
}

/** The comment above each code; one without makes the page fail. */
function readMeanings(): ReadonlyMap<string, string> {
  const source = tables.map((path) => readFileSync(path, 'utf8')).join('\n')
  const rows = source.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*'([a-z0-9_.]+)':/g)
  const meanings = new Map(
    [...rows].map(([, comment = '', code = '']) => [code, comment.replace(/\s*\n\s*\*?\s*/g, ' ').trim()]),
  )
  const silent = Object.keys(allErrors).filter((code) => !meanings.get(code))
  if (silent.length > 0) throw new Error(`no comment says what these codes mean: ${silent.join(', ')}`)
  return meanings
}
