import type {
  FileEffect,
  HostEffect,
  ShellArgument,
  ShellCommand,
  ShellEffects,
} from '../engine/core/shell-effects.ts'

/** The effects as a tree for people. */
export function formatShellEffects({
  commands,
  writes,
  reads,
  deletes,
  hosts,
  opaque,
}: ShellEffects): string {
  const sections: readonly (readonly [string, readonly string[]])[] = [
    ['runs', commands.map(formatCommand)],
    ['writes', writes.map(formatFile)],
    ['deletes', deletes.map(formatFile)],
    ['reads', reads.map(formatFile)],
    ['contacts', hosts.map(formatHost)],
    ['opaque', opaque.map(({ reason, detail, at }) => `${reason}: ${detail} (character ${at + 1})`)],
  ]
  const shown = sections.filter(([, lines]) => lines.length > 0)
  if (shown.length === 0) return 'no effects'
  return shown
    .flatMap(([title, lines]) => [
      title,
      ...lines.map((line, index) => `${index === lines.length - 1 ? '└─' : '├─'} ${line}`),
    ])
    .join('\n')
}

function formatCommand({ program, path, args, flags, via, remote, cwd }: ShellCommand): string {
  const words = [path ?? program, ...args.map(formatArgument)].join(' ')
  const notes = [
    flags.length === 0 ? '' : `flags ${flags.join(' ')}`,
    via.length === 0 ? '' : `through ${via.join(' → ')}`,
    remote === undefined ? '' : `on ${remote}`,
    cwd === undefined && remote === undefined ? 'in an unknown folder' : '',
  ].filter((note) => note !== '')
  return notes.length === 0 ? words : `${words}  (${notes.join(', ')})`
}

function formatArgument({ text, certainty }: ShellArgument): string {
  if (certainty === 'unknown') return `‹${text}›`
  return /^[\w@%+=:,./*?-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

function formatFile({ path, target, by, certainty }: FileEffect): string {
  const leads = target === undefined ? '' : ` → ${target}`
  return `${path}${leads}  (${by}${certainty === 'unknown' ? ', path not known' : ''})`
}

function formatHost({ host, by, certainty }: HostEffect): string {
  return `${host}  (${by}${certainty === 'unknown' ? ', host not known' : ''})`
}
