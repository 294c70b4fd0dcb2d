import { isRecord } from '../../engine/core/check.ts'
import { HookError } from '../../engine/core/error.ts'
import type { HookOptions } from '../../engine/hook-definition.ts'
import { compileMatcher } from '../../engine/match/compile.ts'
import type { Found } from './issues.ts'
import type { TextPlace } from './source.ts'

/** A problem inside a text, such as a parenthesis that is never closed. */
export interface FoundInside extends Found {
  readonly inside?: TextPlace
}

type Raw = Readonly<Record<string, unknown>>

/** Compiles every condition by itself, so that a bad `matcher` does not hide a bad `if_expr`. */
export function checkConditions(raw: Raw): FoundInside[] {
  const match = isRecord(raw.match) ? raw.match : {}
  return [
    ...compiled(
      raw,
      text(raw.matcher, (matcher) => ({ matcher })),
      ['matcher'],
    ),
    ...compiled(
      raw,
      text(raw.if_expr, (if_expr) => ({ if_expr })),
      ['if_expr'],
    ),
    ...compiled(
      raw,
      text(match.glob, (glob) => ({ match: { glob } })),
      ['match', 'glob'],
    ),
    ...compiled(
      raw,
      texts(match.names, (names) => ({ match: { names } })),
      ['match', 'names'],
    ),
  ]
}

function text(value: unknown, build: (value: string) => HookOptions): HookOptions | undefined {
  return typeof value === 'string' && value !== '' ? build(value) : undefined
}

/** Other types are the schema's to refuse. */
function texts(value: unknown, build: (value: readonly string[]) => HookOptions): HookOptions | undefined {
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? build(value) : undefined
}

/** Conditions that compile. A reload finds almost all of its own here; they take longer than the rest of the file. */
const compiles = new Set<string>()
const MAX_KNOWN = 20_000

function compiled(raw: Raw, options: HookOptions | undefined, path: Found['path']): FoundInside[] {
  if (options === undefined) return []
  const source = JSON.stringify(options)
  if (compiles.has(source)) return []
  try {
    compileMatcher(options, String(raw.event))
    if (compiles.size >= MAX_KNOWN) compiles.clear()
    compiles.add(source)
    return []
  } catch (error) {
    if (!(error instanceof HookError)) throw error
    const { cause } = error
    // The file, line and pointer already say which hook it is.
    return [{ ...placeOf(path, error.at), part: 'value', error: cause instanceof HookError ? cause : error }]
  }
}

/** The engine says `matcher:12`, `if_expr:2:7` or `match.names.0`. */
function placeOf(path: Found['path'], at = ''): Pick<FoundInside, 'path' | 'inside'> {
  const inList = /^match\.names\.(\d+)/.exec(at)
  const inner = inList === null ? path : [...path, Number(inList[1])]
  const lineAndColumn = /:(\d+):(\d+)$/.exec(at)
  if (lineAndColumn !== null)
    return { path: inner, inside: { line: Number(lineAndColumn[1]), column: Number(lineAndColumn[2]) } }
  const offset = /:(\d+)$/.exec(at)
  return offset === null ? { path: inner } : { path: inner, inside: { offset: Number(offset[1]) } }
}
