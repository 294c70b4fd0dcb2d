import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

export interface Behaviour {
  readonly id: string
  readonly seed: string
  readonly section: string
  readonly says: string
  /** Sources: S seed text, I implementation, T a test of the original, P proved by running. */
  readonly by: string
  readonly flags: string
  readonly ruling: Ruling | undefined
  /** The part that no test shows, where the tests show only some of the behaviour. */
  readonly missing: string | undefined
}

export interface Ruling {
  /** A number of the rulings, or `order` for the order of authority. */
  readonly ruling: number | 'order'
  readonly why: string
}

export interface Section {
  readonly name: string
  readonly title: string
  readonly behaviours: readonly Behaviour[]
}

export interface Threat {
  readonly id: string
  readonly section: string
  readonly says: string
  readonly missing: string | undefined
}

interface BehaviourRow {
  readonly by: string
  readonly flags?: string
  readonly says: string
}

const read = (name: string) => parse(readFileSync(`test/conformance/${name}.yaml`, 'utf8'))

function readPartly(): Record<string, { missing: string }> {
  return read('partly') ?? {}
}

export function readSections(): Section[] {
  const rulings: Record<string, Ruling> = read('rulings')
  const partly = readPartly()
  const sections: Record<string, { seed: string; title: string; behaviours: Record<string, BehaviourRow> }> =
    read('behaviours')
  const all = Object.entries(sections).map(([name, { seed, title, behaviours }]) => ({
    name,
    title,
    behaviours: Object.entries(behaviours).map(([id, row]) => ({
      id,
      seed,
      section: name,
      says: row.says,
      by: row.by,
      flags: row.flags ?? '',
      ruling: rulings[id],
      missing: partly[id]?.missing,
    })),
  }))
  const known = new Set(all.flatMap((section) => section.behaviours.map((each) => each.id)))
  refuseIds('rulings.yaml names unknown behaviours', idsOutside(rulings, known))
  const threats = readThreats().map(({ id }) => id)
  refuseIds('partly.yaml names unknown rows', idsOutside(partly, new Set([...known, ...threats])))
  refuseIds(
    'both ruled otherwise and partly',
    Object.keys(partly).filter((id) => id in rulings),
  )
  return all
}

function idsOutside(rows: object, known: ReadonlySet<string>): string[] {
  return Object.keys(rows).filter((id) => !known.has(id))
}

function refuseIds(problem: string, ids: readonly string[]): void {
  if (ids.length > 0) throw new Error(`${problem}: ${ids.join(', ')}`)
}

export function readThreats(): Threat[] {
  const sections: Record<string, { title: string; rows: Record<string, string> }> = read('threats')
  const partly = readPartly()
  return Object.entries(sections).flatMap(([number, { title, rows }]) =>
    Object.entries(rows).map(([row, says]) => ({
      id: `${number} #${row}`,
      section: `${number} ${title}`,
      says,
      missing: partly[`${number} #${row}`]?.missing,
    })),
  )
}
