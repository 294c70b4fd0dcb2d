import { describeField, hasPattern, isFieldKnown, type WordField } from '../expand/shell-text.ts'
import type { Program } from '../programs/program.ts'
import { findRecord, programNamed } from '../programs/programs.ts'
import { NO_OPTIONS, type OptionSpec, optionSpec, parseOptions } from './parse-options.ts'
import type { Level } from './program-call.ts'

const noRecord: Program = {}

/** The program and the subcommands that the words name, the deepest last. Options may come before each. */
export function resolveProgram(program: string, args: readonly WordField[]): readonly [Level, ...Level[]] {
  const found = programNamed(program)
  const record = found?.record ?? noRecord
  const first = createLevel(found?.name ?? program, record, args, NO_OPTIONS)
  const levels: [Level, ...Level[]] = [first]
  for (let level: Level = first; level.record.subcommands; ) {
    const [word, ...rest] = parseOptions(level.args, { ...level.spec, stops: true }).operands
    if (!word || !isFieldKnown(word) || hasPattern(word)) break
    const text = describeField(word)
    if (text === '') break
    const child = findRecord(level.record.subcommands, text)
    const inherited = level.spec.stops ? NO_OPTIONS : level.spec
    level = createLevel(`${level.name} ${child?.name ?? text}`, child?.record ?? noRecord, rest, inherited)
    levels.push(level)
  }
  return levels
}

function createLevel(
  name: string,
  record: Program,
  args: readonly WordField[],
  inherited: OptionSpec,
): Level {
  const spec = record.options === undefined ? inherited : optionSpec(record.options)
  return { name, record, spec, args, parsed: parseOptions(args, spec) }
}
