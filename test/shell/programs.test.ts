import { expect, test } from 'vitest'
import type { Programs } from '../../src/shell/programs/program.ts'
import { families, programNamed } from '../../src/shell/programs/programs.ts'
import { readCaseGroups, readHoldout, readLineCases, readRounds } from './read-cases.ts'

const lines = [
  ...(['deletions', 'hidden', 'harmless', 'ordinary'] as const).flatMap(readCaseGroups),
  ...readHoldout(),
  ...readRounds(),
].flatMap((group) => group.lines)
const namedLines = (['files', 'network', 'commands'] as const).flatMap(readLineCases).map(({ line }) => line)
const words = new Set(
  [...lines, ...namedLines]
    .flatMap((line) => line.split(/[\s;|&()'"`=<>{}]+/))
    .map((word) => word.slice(word.lastIndexOf('/') + 1)),
)

/** The names of every record, those of its subcommands included. */
function namesOf(records: Programs): readonly (readonly string[])[] {
  return Object.entries(records).flatMap(([names, record]) =>
    typeof record === 'string' ? [] : [names.split(' '), ...namesOf(record.subcommands ?? {})],
  )
}

test('each program has one record', () => {
  const names = families.flatMap((records) => Object.keys(records)).flatMap((key) => key.split(' '))
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  expect(names.filter((name) => programNamed(name) === undefined)).toEqual([])
})

test('each record has a case that names it', () => {
  const unnamed = families.flatMap(namesOf).filter((names) => !names.some((name) => words.has(name)))
  expect(unnamed).toEqual([])
})
