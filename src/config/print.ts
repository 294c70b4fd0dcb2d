import { dump } from 'js-yaml'
import { visible } from './line-diff.ts'
import type { HookFile } from './schema/hook-file.ts'
import { SCHEMA_URL } from './schema/json-schema.ts'

const HEAD = `# yaml-language-server: $schema=${SCHEMA_URL}
# Hooks: what runs when an agent starts, is asked something, calls a tool or ends.
# Every field is described in the schema above; \`hookhelm validate\` checks this file.`

/** A hook file as YAML that people go on editing. Notes become comments at its head. */
export function printHookFile(file: HookFile, notes: readonly string[] = []): string {
  const { hooks, ...rest } = file
  const remarks = notes.flatMap((note) => visible(note.replaceAll('\n', ' ')))
  return [
    [
      HEAD,
      ...(remarks.length > 0 ? ['#', '# To be looked at:', ...remarks.map((note) => `# - ${note}`)] : []),
    ].join('\n'),
    printed({ version: 1, ...rest }, ['$schema', 'version']),
    hooks.length === 0 ? 'hooks: []\n' : `hooks:\n${hooks.map(item).join('\n')}`,
    printed(rest, ['rules', 'blueprints']),
  ]
    .filter((part) => part !== '')
    .join('\n')
}

function printed(file: Readonly<Record<string, unknown>>, keys: readonly string[]): string {
  const chosen = Object.fromEntries(
    keys.flatMap((key) => (file[key] === undefined ? [] : [[key, file[key]]])),
  )
  return Object.keys(chosen).length === 0 ? '' : toYaml(chosen)
}

/** One hook as an entry of the list, with air around it. */
function item(hook: HookFile['hooks'][number]): string {
  const lines = toYaml([hook]).split('\n')
  return lines.map((line) => (line === '' ? '' : `  ${line}`)).join('\n')
}

function toYaml(value: unknown): string {
  return dump(value, { noRefs: true, lineWidth: 110, quoteStyle: 'double' })
}
