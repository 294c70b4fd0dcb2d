import { markdownTable, type Page } from '../page.ts'
import type { TestResult } from '../test-results.ts'
import type { Behaviour, Ruling, Section, Threat } from './data.ts'
import type { Joined, JoinedBehaviours, Status } from './join.ts'

const seeds = {
  S0: 'OpenClaude Hook Chains (CH)',
  S1: 'OpenHarness (OH)',
  S2: 'GoClaw Agent Hooks (GC)',
  S3: 'OpenClaw hook runner (OC)',
  S4: 'Agent Run Hooks (AO)',
}

export interface Conformance {
  readonly sections: readonly Section[]
  readonly behaviours: JoinedBehaviours
  readonly threats: readonly Joined<Threat>[]
}

export function conformancePage({ sections, behaviours, threats }: Conformance): Page {
  const all = [...behaviours.values()]
  const text = [
    '# Conformance',
    intro,
    '## All behaviours',
    summary(all),
    '## Behaviours that a seed text states',
    summary(all.filter(({ row }) => row.by.includes('S'))),
    ...sections.flatMap((section) => [
      `## ${section.name} ${section.title}`,
      markdownTable({
        head: ['id', 'behaviour', 'status', 'shown by'],
        rows: section.behaviours.map(({ id }) => behaviourLine(behaviours.get(id))),
      }),
    ]),
    '## Bad inputs and faults',
    `${threats.filter((threat) => threat.status === 'proved').length} of ${threats.length} rows are proved.`,
    ...threatSections(threats),
  ]
  return { path: 'docs/conformance.md', text: `${text.join('\n\n')}\n` }
}

const intro = `Hookhelm joins five systems, the seeds S0 to S4. Each behaviour of theirs has an id, and a test that proves one
carries the id in its title. This page joins the ids with the last test run; \`npm run docs\` writes it.

*proved*: a passing test shows it · *partly*: tests show a part of it, and the row names what is missing ·
*ruled otherwise*: the seeds disagree, or the original has a fault there, and Hookhelm does something else on purpose ·
*open*: none of these yet.`

function summary(rows: readonly Joined<Behaviour>[]): string {
  const line = (name: string, some: readonly Joined<Behaviour>[]) => {
    const count = (status: Status) => String(some.filter((each) => each.status === status).length)
    return [
      name,
      String(some.length),
      count('proved'),
      count('partly'),
      count('ruled otherwise'),
      count('open'),
    ]
  }
  return markdownTable({
    head: ['seed', 'ids', 'proved', 'partly', 'ruled otherwise', 'open'],
    rows: [
      ...Object.entries(seeds).map(([seed, name]) =>
        line(
          `${seed} ${name}`,
          rows.filter(({ row }) => row.seed === seed),
        ),
      ),
      line('all', rows),
    ],
  })
}

function behaviourLine(joined: Joined<Behaviour> | undefined): string[] {
  if (joined === undefined) return []
  const { row, status, proofs } = joined
  return [row.id, row.says, status, shownBy([row.ruling && rulingText(row.ruling), missingText(row)], proofs)]
}

function missingText({ missing }: Pick<Behaviour, 'missing'>): string | undefined {
  return missing === undefined ? undefined : `missing: ${missing}`
}

function shownBy(remarks: readonly (string | undefined)[], proofs: readonly TestResult[]): string {
  return [...remarks, proofText(proofs)].filter((part) => part).join(' · ')
}

function threatSections(threats: readonly Joined<Threat>[]): string[] {
  const names = [...new Set(threats.map(({ row }) => row.section))]
  return names.flatMap((name) => [
    `### ${name}`,
    markdownTable({
      head: ['row', 'input or fault → answer', 'status', 'shown by'],
      rows: threats
        .filter(({ row }) => row.section === name)
        .map(({ row, status, proofs }) => [row.id, row.says, status, shownBy([missingText(row)], proofs)]),
    }),
  ])
}

function rulingText({ ruling, why }: Ruling): string {
  return `${ruling === 'order' ? 'order of authority' : `ruling ${ruling}`}: ${why}`
}

function proofText(proofs: readonly TestResult[]): string {
  const [first, ...rest] = proofs
  if (first === undefined) return ''
  return `\`${first.file}\`: ${first.title}${rest.length > 0 ? ` (and ${rest.length} more)` : ''}`
}
