import type {
  FileEffect,
  ShellArgument,
  ShellCommand,
  ShellEffects,
} from '../../../../src/engine/core/shell-effects.ts'
import { plural } from '../../parts/format.ts'
import { Panel } from '../../parts/layout.tsx'
import styles from './effects.module.css'

interface Section {
  readonly title: string
  readonly rows: readonly { readonly text: string; readonly note: string }[]
  readonly isOpaque?: true
}

/** What the call does, as a tree: commands, files, hosts, and what cannot be known before it runs. */
export function Effects({ effects }: Readonly<{ effects: ShellEffects }>) {
  const { opaque } = effects
  const aside = opaque.length === 0 ? 'all of it is known' : `${plural(opaque.length, 'part')} not known`
  return (
    <Panel title="What the call does" aside={aside}>
      <div className={styles.effects}>
        {sectionsOf(effects).map(({ title, rows, isOpaque }) => (
          <section key={title} aria-label={title} className={isOpaque ? styles.opaque : undefined}>
            <h3>{title}</h3>
            <ul>
              {rows.map(({ text, note }, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a line may do the same twice
                <li key={index}>
                  <code>{text.slice(0, 500)}</code>
                  {note === '' ? null : <span>{note}</span>}
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </Panel>
  )
}

function sectionsOf({ commands, writes, reads, deletes, hosts, opaque }: ShellEffects): readonly Section[] {
  const sections: readonly Section[] = [
    { title: 'runs', rows: commands.map((command) => ({ text: wordsOf(command), note: wayTo(command) })) },
    { title: 'writes', rows: writes.map(fileRow) },
    { title: 'deletes', rows: deletes.map(fileRow) },
    { title: 'reads', rows: reads.map(fileRow) },
    { title: 'contacts', rows: hosts.map(({ host, by }) => ({ text: host, note: by })) },
    {
      title: 'cannot be known',
      rows: opaque.map(({ reason, detail }) => ({ text: reason, note: detail })),
      isOpaque: true,
    },
  ]
  return sections.filter(({ rows }) => rows.length > 0)
}

function wordsOf({ program, path, args }: ShellCommand): string {
  return [path ?? program, ...args.map(printArgument)].join(' ')
}

function printArgument({ text, certainty }: ShellArgument): string {
  if (certainty === 'unknown') return `‹${text}›`
  return /^[\w@%+=:,./*?-]+$/.test(text) ? text : `'${text}'`
}

function wayTo({ via, remote }: ShellCommand): string {
  return [via.length === 0 ? '' : `through ${via.join(' → ')}`, remote === undefined ? '' : `on ${remote}`]
    .filter((part) => part !== '')
    .join(', ')
}

function fileRow({ path, target, by }: FileEffect): Section['rows'][number] {
  return { text: target === undefined ? path : `${path} → ${target}`, note: by }
}
