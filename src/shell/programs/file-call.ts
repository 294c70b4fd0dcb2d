import type { FileEffectKind } from '../evaluate/effect-recorder.ts'
import type { Invocation } from '../evaluate/shell-run.ts'
import type { WordField } from '../expand/shell-text.ts'
import type { ParsedOptions } from './parse-options.ts'

/** A program whose files need more than the table. */
export interface FileCall {
  readonly invocation: Invocation
  readonly parsed: ParsedOptions
  readonly add: (kind: FileEffectKind, field: WordField, below?: string) => void
}
