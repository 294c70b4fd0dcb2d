import { dump } from 'js-yaml'
import { visibleText } from '../engine/core/values/visible-text.ts'
import type { HookFile } from './schema/hook-file.ts'
import { SCHEMA_URL } from './schema/json-schema.ts'

const HEAD = `# yaml-language-server: $schema=${SCHEMA_URL}
# Hooks: what runs when an agent starts, receives a prompt, calls a tool or ends.
# Every field is described in the schema above; \`hookhelm validate\` checks this file.`

/** Prints a hook file as YAML for people to edit. Notes become comments at the top. */
export function printHookFile(file: HookFile, notes: readonly string[] = []): string {
  const { hooks, ...rest } = file
  const comments = notes.map((note) => visibleText(note.replaceAll('\n', ' ')))
  return [
    [
      HEAD,
      ...(comments.length > 0 ? ['#', '# Please review:', ...comments.map((note) => `# - ${note}`)] : []),
    ].join('\n'),
    printKeys({ version: 1, ...rest }, ['$schema', 'version']),
    hooks.length === 0 ? 'hooks: []\n' : `hooks:\n${hooks.map(printHook).join('\n')}`,
    printKeys(rest, ['rules', 'blueprints']),
  ]
    .filter((part) => part !== '')
    .join('\n')
}

function printKeys(file: Readonly<Record<string, unknown>>, keys: readonly string[]): string {
  const chosen = Object.fromEntries(
    keys.flatMap((key) => (file[key] === undefined ? [] : [[key, file[key]]])),
  )
  return Object.keys(chosen).length === 0 ? '' : toYaml(chosen)
}

/** One hook as an entry of the list. */
function printHook(hook: HookFile['hooks'][number]): string {
  const lines = toYaml([hook]).split('\n')
  return lines.map((line) => (line === '' ? '' : `  ${line}`)).join('\n')
}

function toYaml(value: unknown): string {
  return dump(value, { noRefs: true, lineWidth: 110, quoteStyle: 'double' })
}
