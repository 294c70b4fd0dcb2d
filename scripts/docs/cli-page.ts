import { readFileSync } from 'node:fs'
import { type CommandRow, commands } from '../../src/cli/commands.ts'
import { markdownTable, type Page, replaceGenerated } from '../page.ts'

const PATH = 'docs/cli.md'

/** The page about the command line, with its tables written from the command table. */
export function cliPage(): Page {
  const local = commands.filter(({ isRemote }) => isRemote !== true)
  const remote = commands.filter(({ isRemote }) => isRemote === true)
  const page = { path: PATH, text: readFileSync(PATH, 'utf8') }
  return replaceGenerated(
    replaceGenerated(page, 'commands', commandTable(local)),
    'gateway-commands',
    commandTable(remote),
  )
}

function commandTable(rows: readonly CommandRow[]): string {
  return markdownTable({
    head: ['command', 'what it does'],
    rows: rows.map(({ name, usage, verbs, about }) => [
      `\`${['hookhelm', name, verbs?.join('|'), usage].filter((word) => word !== undefined).join(' ')}\``,
      about,
    ]),
  })
}
