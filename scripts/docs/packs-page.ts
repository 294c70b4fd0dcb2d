import { readFileSync } from 'node:fs'
import { findPack, listPacks, recommendedPacks } from '../../src/hook-files/packs/pack.ts'
import {
  ordinaryAlarms,
  type PackCases,
  readOrdinaryCommands,
  readPackCases,
} from '../../test/packs/pack-cases.ts'
import { markdownTable, type Page, replaceGenerated } from '../page.ts'

const PATH = 'docs/packs.md'

/** The page about starter packs, with the rates that `test/packs/packs.test.ts` proves and the hooks of each pack. */
export function packsPage(): Page {
  const page = { path: PATH, text: readFileSync(PATH, 'utf8') }
  return replaceGenerated(replaceGenerated(page, 'rates', rates()), 'hooks', hooks())
}

function rates(): string {
  const all = readPackCases()
  const ordinary = readOrdinaryCommands().length
  const table = markdownTable({
    head: ['pack', 'what it is about', 'caught', 'false alarms'],
    rows: [
      ...all.map((cases) => [
        nameOf(cases.pack),
        findPack(cases.pack).about,
        caught([cases]),
        alarms([cases]),
      ]),
      ['**all**', '', caught(all), alarms(all)],
    ],
  })
  return `${table}

Of ${ordinary} ordinary commands of many languages and tools (without those that a pack is meant to ask about, such as \`sudo\`), the recommended packs (★) together stop 0. All packs together stop
${ordinaryAlarms.length} (${percent(ordinaryAlarms.length, ordinary)}), all of them because of \`opaque-commands\`: inline code such as \`node -p\`, paths that another command
prints, and scripts that do not exist where the cases run (\`test/packs/ordinary-alarms.txt\`).`
}

function nameOf(pack: string): string {
  return `\`${pack}\`${recommendedPacks.includes(pack) ? ' ★' : ''}`
}

function caught(all: readonly PackCases[]): string {
  const wanted = all.flatMap(({ cases }) => cases.filter(({ mustCatch }) => mustCatch)).length
  const missed = all.flatMap((cases) => cases.missed).length
  return `${wanted - missed} of ${wanted} (${percent(wanted - missed, wanted)})`
}

function alarms(all: readonly PackCases[]): string {
  const harmless = all.flatMap(({ cases }) => cases.filter(({ mustCatch }) => !mustCatch)).length
  const stopped = all.flatMap(({ alarmed }) => alarmed).length
  return `${stopped} of ${harmless} (${percent(stopped, harmless)})`
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(1)} %`
}

function hooks(): string {
  return listPacks()
    .flatMap(({ name, hooks: of }) => [
      `### ${name}`,
      markdownTable({
        head: ['hook', 'what it catches', 'answer', 'OWASP'],
        rows: of.map(({ id, description = '', tags = [], config }) => [
          `\`${id}\``,
          description,
          answerOf(config),
          tags.filter((tag) => tag.startsWith('ASI')).join(' '),
        ]),
      }),
    ])
    .join('\n\n')
}

/** A hook without an answer changes the text. */
function answerOf(config: unknown): string {
  return /"?\bdecision"?(?:: ?"| = ')(block|ask)/.exec(JSON.stringify(config))?.[1] ?? 'redacts'
}
