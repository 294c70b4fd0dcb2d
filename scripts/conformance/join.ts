import type { TestResult } from '../test-results.ts'
import type { Behaviour, Section, Threat } from './data.ts'
import { namedBehaviours, namedThreats } from './named-ids.ts'

export type Status = 'proved' | 'partly' | 'ruled otherwise' | 'open'

export interface Joined<T> {
  readonly row: T
  readonly status: Status
  readonly proofs: readonly TestResult[]
}

export type JoinedBehaviours = ReadonlyMap<string, Joined<Behaviour>>

/** Which passed tests name which id. */
function proofsById(
  tests: readonly TestResult[],
  named: (title: string) => string[],
): Map<string, TestResult[]> {
  const proofs = new Map<string, TestResult[]>()
  const passed = tests.filter((test) => test.passed)
  const sorted = passed.toSorted((a, b) => compare(a.file, b.file) || compare(a.title, b.title))
  for (const test of sorted)
    for (const id of new Set(named(test.title))) proofs.set(id, [...(proofs.get(id) ?? []), test])
  return proofs
}

export function joinBehaviours(sections: readonly Section[], tests: readonly TestResult[]): JoinedBehaviours {
  const proofs = proofsById(tests, namedBehaviours)
  const all = sections.flatMap((section) => section.behaviours)
  return new Map(
    all.map((row) => {
      const shown = proofs.get(row.id) ?? []
      return [row.id, { row, status: behaviourStatus(row, shown), proofs: shown }]
    }),
  )
}

export function joinThreats(threats: readonly Threat[], tests: readonly TestResult[]): Joined<Threat>[] {
  const proofs = proofsById(tests, namedThreats)
  return threats.map((row) => {
    const shown = proofs.get(row.id) ?? []
    return { row, status: shownStatus(row.missing, shown), proofs: shown }
  })
}

/** Titles that name an id nobody knows: a typing error would otherwise look like a missing proof. */
export function unknownIds(known: ReadonlySet<string>, tests: readonly TestResult[]): string[] {
  return tests.flatMap((test) =>
    [...namedBehaviours(test.title), ...namedThreats(test.title)]
      .filter((id) => !known.has(id))
      .map((id) => `${test.file}: "${test.title}" names ${id}, which is no known behaviour or threat`),
  )
}

function behaviourStatus(row: Behaviour, proofs: readonly TestResult[]): Status {
  return row.ruling === undefined ? shownStatus(row.missing, proofs) : 'ruled otherwise'
}

/** A partly shown row without any passing test is open. */
function shownStatus(missing: string | undefined, proofs: readonly TestResult[]): Status {
  if (proofs.length === 0) return 'open'
  return missing === undefined ? 'proved' : 'partly'
}

/** By code unit, so that the page is the same on every machine. */
function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
