/** What can happen to a file. */
export type FileKind = 'writes' | 'reads' | 'deletes'

/** The names that stand for an effect and not only for a tool, with the effects of each. */
const fileEffects: Readonly<Record<string, readonly FileKind[]>> = {
  // A file that is deleted or moved away no longer has its content, which is what these hooks guard.
  Write: ['writes', 'deletes'],
  Edit: ['writes', 'deletes'],
  Read: ['reads'],
  Delete: ['deletes'],
}

/** Whether `Tool(pattern)` with this name means everything that has the effect: any tool and any shell command. */
export function isEffectName(name: string): boolean {
  return name === 'Network' || Object.hasOwn(fileEffects, name)
}

/** The effects on files that a name stands for; none for any other name. */
export function fileKindsOf(name: string): readonly FileKind[] {
  return (isEffectName(name) && fileEffects[name]) || []
}
