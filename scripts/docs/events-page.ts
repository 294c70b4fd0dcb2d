import type { EventRow, EventRows } from '../../src/engine/core/event.ts'
import { catalogue } from '../../src/engine/events/catalogue.ts'
import { lifecycleEquivalents, openclawRows } from '../../src/engine/events/openclaw/rows.ts'
import { type HookRule, hookRules } from '../../src/openclaw/hook-rules.ts'
import { markdownTable, type Page } from '../page.ts'

const modes = ['gate', 'transform', 'claim', 'observe'] as const

const modeText = {
  gate: 'Hooks run one after the other; the strictest answer wins and the first block stops the rest.',
  transform: 'Hooks run one after the other; what they return is merged field by field.',
  claim: 'Hooks run one after the other; the first that answers `handled` wins.',
  observe: 'Hooks run side by side, nobody waits for them, and nothing they return has an effect.',
}

export function eventsPage(): Page {
  const rows: EventRows = catalogue
  const openclaw: EventRows = openclawRows
  const own = Object.entries(rows).filter(([name, row]) => openclaw[name] !== row)
  const sections = modes.flatMap((mode) => {
    const some = own.filter(([, row]) => row.mode === mode)
    return some.length === 0 ? [] : [`## ${mode}`, modeText[mode], table(some)]
  })
  const text = ['# Events', intro, ...sections, '## OpenClaw', openclawText, openclawTable(openclaw)]
  return { path: 'docs/events.md', text: `${text.join('\n\n')}\n` }
}

const intro = `Every event is a row of the catalogue. A name may be written in any case and with any separator (\`PreToolUse\`,
\`pre-tool-use\`); aliases are other names for the same event. A hook may set its own timeout and policies; the row holds
the defaults. *On failure* is what an error, a timeout or an unreadable answer of a hook means.

Generated from \`src/engine/events\` by \`npm run docs\`.`

function table(rows: readonly (readonly [string, EventRow])[]): string {
  return markdownTable({
    head: ['event', 'when', 'can block', 'rewrites', 'result fields', 'timeout', 'on failure', 'aliases'],
    rows: rows.map(([name, row]) => [
      `\`${name}\`${row.sync ? ' (sync)' : ''}`,
      row.about,
      canBlock(row),
      row.rewrites === undefined ? '' : `\`${row.rewrites}\``,
      fieldList(row),
      `${row.timeoutMs} ms`,
      row.mode === 'gate' ? row.onFailure : 'go on',
      row.aliases.map((alias) => `\`${alias}\``).join(' '),
    ]),
  })
}

const openclawText = `The hooks of \`hookhelm/openclaw\`. That door keeps the rules of the original; timeout and failure policy are defaults that
a registration or the runner's options replace. A hook with a name in the last column is the same as that event.`

function openclawTable(rows: EventRows): string {
  const same: Readonly<Record<string, string>> = lifecycleEquivalents
  const rules: Readonly<Record<string, HookRule>> = hookRules
  return markdownTable({
    head: ['hook', 'when', 'mode', 'can block', 'result fields', 'timeout', 'on failure', 'same as'],
    rows: Object.entries(rows).map(([name, row]) => [
      `\`${name}\`${row.sync ? ' (sync)' : ''}`,
      row.about,
      row.mode,
      canBlock(row),
      fieldList(row),
      rules[name]?.timeoutMs === undefined ? 'none' : `${rules[name].timeoutMs} ms`,
      rules[name]?.failure ?? 'fail-open',
      same[name] === undefined ? '' : `\`${same[name]}\``,
    ]),
  })
}

function canBlock(row: EventRow): string {
  if (row.mode !== 'gate') return 'no'
  return row.maxBlocksInARow === undefined ? 'yes' : `yes, ${row.maxBlocksInARow} times in a row`
}

function fieldList(row: EventRow): string {
  const fields = Object.entries(row.fields).map(([name, { merge }]) => `\`${name}\` ${merge.name}`)
  return fields.join(', ') + (row.merge && fields.length > 1 ? ', merged together' : '')
}
