import { isRecord } from '../../engine/core/schema/check.ts'
import type { SchemaPath } from '../../engine/core/schema/schema.ts'
import { jsonPointer } from '../file-problem.ts'
import { type ValueProblem, valueProblem } from '../read/value-problem.ts'

/** Something in a file that an import changes or leaves out. */
export interface ImportNote {
  readonly path: SchemaPath
  /** What it means for the user. */
  readonly text: string
}

/**
 * Accounts for every value of a file that is imported. A value is used, noted or refused; at the end every other value
 * gets a note of its own, so that an importer cannot lose one silently.
 */
export class ImportLedger {
  readonly notes: ImportNote[] = []
  readonly problems: ValueProblem[] = []
  readonly #covered = new Set<string>()
  /** The objects and lists around covered values. */
  readonly #partlyCovered = new Set<string>()

  /** The value and everything in it has its equivalent in a hook. */
  use(path: SchemaPath): void {
    this.#covered.add(jsonPointer(path))
    for (let length = 0; length <= path.length; length++)
      this.#partlyCovered.add(jsonPointer(path.slice(0, length)))
  }

  /** A note about a value that is changed or left out. */
  note(path: SchemaPath, text: string): void {
    this.use(path)
    this.remark(path, text)
  }

  /** A note about an object whose fields are accounted for separately. */
  remark(path: SchemaPath, text: string): void {
    const pointer = jsonPointer(path)
    // One hook of the file may become two of ours.
    if (this.notes.some((note) => note.text === text && jsonPointer(note.path) === pointer)) return
    this.notes.push({ path, text })
  }

  /** Refuses the import: without this value a hook would no longer guard anything. */
  refuse(path: SchemaPath, message: string, hint: string): void {
    this.use(path)
    this.problems.push(valueProblem(path, message, 'config.field', { hint }))
  }

  /** Adds a note for each value that was not accounted for: one for the outermost object or list. */
  noteUnused(value: unknown, path: SchemaPath = []): void {
    if (this.#covered.has(jsonPointer(path)) || !hasContent(value)) return
    const children = childrenOf(value, path)
    if (children.length > 0 && (path.length === 0 || this.#partlyCovered.has(jsonPointer(path)))) {
      for (const [child, at] of children) this.noteUnused(child, at)
      return
    }
    this.note(
      path,
      `${String(path.at(-1) ?? 'the value')} has no equivalent in a hook file, and was left out`,
    )
  }
}

function childrenOf(value: unknown, path: SchemaPath): readonly (readonly [unknown, SchemaPath])[] {
  if (Array.isArray(value)) return value.map((item, index) => [item, [...path, index]])
  return isRecord(value) ? Object.entries(value).map(([key, item]) => [item, [...path, key]]) : []
}

/** Whether there is any value in it that is not an empty object or list. */
function hasContent(value: unknown): boolean {
  return typeof value === 'object' && value !== null ? Object.values(value).some(hasContent) : true
}

/** Reads an object of the file and records which of its fields are used. */
export class FieldReader<T extends object> {
  readonly fields: T
  readonly path: SchemaPath
  readonly ledger: ImportLedger

  constructor(fields: T, path: SchemaPath, ledger: ImportLedger) {
    this.fields = fields
    this.path = path
    this.ledger = ledger
  }

  /** The value of a field, which counts as used. */
  take<K extends keyof T & string>(key: K): T[K] {
    if (this.fields[key] !== undefined) this.ledger.use([...this.path, key])
    return this.fields[key]
  }

  /** A note about a field, if the object has it. */
  note(key: string, text: string): void {
    if (Object.hasOwn(this.fields, key)) this.ledger.note([...this.path, key], text)
  }

  refuse(key: string, message: string, hint: string): void {
    this.ledger.refuse([...this.path, key], message, hint)
  }
}
