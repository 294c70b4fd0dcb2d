import { cloud } from './cloud.ts'
import { containers } from './containers.ts'
import { coreutils } from './coreutils.ts'
import { databases } from './databases.ts'
import { editorPrograms } from './editors.ts'
import { git } from './git.ts'
import { languages } from './languages.ts'
import { network } from './network.ts'
import { packageManagers } from './package-managers.ts'
import type { Program, Programs } from './program.ts'
import { wrappers } from './wrappers.ts'

/** Every family of records. A program is in one of them. */
export const families: readonly Programs[] = [coreutils, editorPrograms, languages, packageManagers, git, containers, cloud, databases, network, wrappers]

/** A record with the name that it has. */
export interface NamedProgram {
  readonly name: string
  readonly record: Program
}

const byName = new Map<Programs, ReadonlyMap<string, NamedProgram>>()

/** The record of a name among records. */
export function findRecord(records: Programs, name: string): NamedProgram | undefined {
  const known = byName.get(records) ?? splitNames(records)
  byName.set(records, known)
  return known.get(name)
}

function splitNames(records: Programs): ReadonlyMap<string, NamedProgram> {
  const found = new Map<string, NamedProgram>()
  const others: (readonly [string, string])[] = []
  for (const [names, record] of Object.entries(records))
    for (const name of names.split(' '))
      if (typeof record === 'string') others.push([name, record])
      else found.set(name, { name, record })
  for (const [name, other] of others) {
    const same = found.get(other)
    if (same) found.set(name, same)
  }
  return found
}

const programs: Programs = Object.assign({}, ...families)

/** Programs with a platform or a version in their names. */
const namePatterns: readonly (readonly [RegExp, string])[] = [
  [/^ld-(?:linux|musl)[\w.-]*\.so/, 'ld.so'],
  [/^(?:[\w-]+-)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|gfortran)(?:-\d+)?$/, 'gcc'],
]

/** The record of a program. Interpreters may have a version in their names: `python3.12`. */
export function programNamed(name: string): NamedProgram | undefined {
  const found = findRecord(programs, name)
  if (found) return found
  const plain = findRecord(programs, name.toLowerCase().replace(/[\d.]+$/, ''))
  if (plain?.record.inlineCode) return plain
  const [, other] = namePatterns.find(([pattern]) => pattern.test(name)) ?? []
  return other === undefined ? undefined : findRecord(programs, other)
}
