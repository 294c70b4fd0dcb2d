import { visibleText } from '../../../src/engine/core/values/visible-text.ts'

/** The properties of elements and components that a person reads or hears. */
const texts = [
  'children',
  'title',
  'label',
  'description',
  'placeholder',
  'alt',
  'error',
  'aria-label',
  'aria-description',
] as const

/** Properties with characters shown that reorder, hide or imitate text. The objects stay the same if none has any. */
export function visibleProps(props: unknown): unknown {
  if (typeof props !== 'object' || props === null) return props
  const known: Readonly<Record<string, unknown>> = { ...props }
  const changed = texts.filter((name) => name in known && visible(known[name]) !== known[name])
  return changed.length === 0
    ? props
    : { ...known, ...Object.fromEntries(changed.map((name) => [name, visible(known[name])])) }
}

function visible(value: unknown): unknown {
  if (typeof value === 'string') return visibleText(value)
  if (!Array.isArray(value)) return value
  const shown = value.map(visible)
  return shown.every((each, index) => each === value[index]) ? value : shown
}
