import type { Log } from '../../engine/core/sink.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import { armed } from '../armed.ts'
import type { HookPlace } from '../find.ts'
import { type FileProblem, wholeFile } from '../problem.ts'
import type { HookFile } from '../schema/hook-file.ts'
import { asHookError } from './as-hook-error.ts'
import { fingerprint } from './fingerprint.ts'
import { type FileState, type Look, type SeeParts, see } from './see.ts'

export interface FileStatus {
  readonly level: HookPlace['level']
  readonly folder: string
  readonly file: string | undefined
  readonly state: FileState
  /** How many hooks are in use from here. */
  readonly hooks: number
  readonly problems: readonly FileProblem[]
}

export interface PlaceParts extends SeeParts {
  /** Puts these hooks in the place of all that the folder had before, at once or not at all. */
  readonly apply: (group: string, definitions: readonly HookDefinition[], file: HookFile) => void
  readonly log: Log
}

/** One folder and what is in use from it. */
export class PlaceState {
  readonly place: HookPlace
  readonly #parts: PlaceParts
  #content: string | undefined
  #ids: readonly (string | undefined)[] = []
  #status: FileStatus

  constructor(place: HookPlace, parts: PlaceParts) {
    this.place = place
    this.#parts = parts
    const { level, folder } = place
    this.#status = { level, folder, file: undefined, state: 'none', hooks: 0, problems: [] }
  }

  get status(): FileStatus {
    return this.#status
  }

  /** The first look: what is wrong is for the caller to report. */
  begin(): readonly FileProblem[] {
    this.#settle(this.#see())
    if (this.#status.state === 'untrusted') this.#report()
    return this.#status.problems
  }

  /**
   * Looks again and takes over what the file says, if it can be used; the same content is never reported twice.
   * Unless `sure`, only what adds to the hooks in use is taken, and the answer is false for everything else: a part of
   * a file may read well and lack the rest.
   */
  look(sure: boolean): boolean {
    const seen = this.#see()
    if (seen.content === this.#content) return true
    if (!sure && !this.#isWhole(seen)) return false
    this.#settle(seen)
    this.#report()
    return true
  }

  /** What tells that another look may find something else, without reading the file. */
  print(): string {
    return fingerprint(this.place, this.#parts.trust)
  }

  #see(): Look {
    const { file, hooks } = this.#status
    return see(this.place, this.#parts, { content: this.#content, file: hooks > 0 ? file : undefined })
  }

  #isWhole({ take, text = '' }: Look): boolean {
    if (take === undefined || !/[\n}]$/.test(text)) return false
    const ids = new Set(armed(take.hooks, this.place, this.#parts.resolve).map(({ id }) => id))
    return this.#ids.every((id) => ids.has(id))
  }

  /** Registering may still refuse, for an id that another file has. */
  #settle({ content, file, state, take, problems = [] }: Look): void {
    this.#content = content
    try {
      if (take !== undefined) this.#apply(take)
      this.#status = { ...this.#status, state, file, hooks: this.#ids.length, problems }
    } catch (error) {
      const refused = wholeFile(file ?? this.place.folder, asHookError(error))
      this.#status = { ...this.#status, state: 'red', file, problems: [refused] }
    }
  }

  #apply(file: HookFile): void {
    const hooks = armed(file.hooks, this.place, this.#parts.resolve)
    this.#parts.apply(this.place.folder, hooks, file)
    this.#ids = hooks.map(({ id }) => id)
  }

  #report(): void {
    const { file, state, hooks, problems } = this.#status
    const { log } = this.#parts
    if (state === 'good') log('reload.applied', { file, hooks })
    if (state === 'red') log('reload.kept_previous', { ...problems[0], hooks, problems })
    if (state === 'untrusted') log('trust.needed', { file, hooks })
  }
}
