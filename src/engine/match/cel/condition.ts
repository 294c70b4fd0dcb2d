import type { MatchPart } from '../matcher.ts'
import { compileProgram } from './program.ts'

/** A condition in the Common Expression Language. */
export function conditionPart(source: string): MatchPart {
  return { kind: 'if_expr', source, when: compileProgram(source) }
}
