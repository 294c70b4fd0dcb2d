import { readFileSync } from 'node:fs'
import { load } from 'js-yaml'

/** Lines that share what is expected of them. */
export interface CaseGroup {
  readonly title: string
  readonly expect: {
    /** A command of this program, with these flags, is among the commands. */
    readonly program?: string
    readonly flags?: readonly string[]
    /** No command of this program is among them. */
    readonly not?: string
    /** The first word of the line is the first program. */
    readonly first?: true
    readonly deletes?: readonly string[]
    /** Exactly these reasons; an empty list means that nothing is opaque. */
    readonly opaque?: readonly string[]
  }
  readonly lines: readonly string[]
}

/** One line with the effects that it must have. */
export interface LineCase {
  readonly line: string
  readonly writes?: readonly string[]
  readonly reads?: readonly string[]
  readonly deletes?: readonly string[]
  readonly hosts?: readonly string[]
  readonly command?: Readonly<Record<string, unknown>>
}

function readYaml(name: string): unknown {
  return load(readFileSync(new URL(`cases/${name}.yaml`, import.meta.url), 'utf8'))
}

export function readCaseGroups(name: 'deletions' | 'hidden' | 'harmless' | 'ordinary'): readonly CaseGroup[] {
  return readYaml(name) as readonly CaseGroup[]
}

export function readLineCases(name: 'files' | 'network' | 'commands'): readonly LineCase[] {
  return readYaml(name) as readonly LineCase[]
}

/** Lines that were written before the analyser had seen them. */
export interface HoldoutGroup {
  readonly title: string
  readonly expect: 'deletion' | 'change' | 'hidden' | 'ordinary'
  readonly lines: readonly string[]
}

export function readHoldout(): readonly HoldoutGroup[] {
  return readYaml('holdout') as readonly HoldoutGroup[]
}

/** Lines of one round. */
export interface RoundGroup {
  readonly title: string
  /** `marked`: an ordinary line with an opaque mark that has a reason. */
  readonly expect: 'deletion' | 'change' | 'read' | 'hidden' | 'ordinary' | 'marked'
  /** The analyser is known to miss these lines. */
  readonly gap?: true
  readonly lines: readonly string[]
}

/** Lines that were written in rounds, each before the analyser had seen it. */
export function readRounds(): readonly RoundGroup[] {
  const groups = readYaml('rounds') as readonly (Omit<RoundGroup, 'lines'> & { readonly lines: string })[]
  return groups.map((group) => ({
    ...group,
    lines: group.lines
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.replaceAll('⏎', '\n')),
  }))
}
