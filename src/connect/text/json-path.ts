import type { Node } from 'jsonc-parser'
import { type ConfigText, nodeValue, place, propertyOf, readConfigText, unusable } from './config-text.ts'
import { append, isBare, remove } from './edit-list.ts'

type Keys = readonly string[]

/** The text with one more item in the array at a path, which is made where it is missing. */
export function withItem(text: string, path: string, keys: Keys, item: unknown): string {
  const config = readConfigText(text, path)
  const { node, rest } = walk(config, path, keys)
  if (node === undefined) return withWhole(config, nested(keys, [item]))
  if (rest.length > 0) return append(config, node, propertyText(config, rest, [item]))
  if (node.type !== 'array')
    throw unusable(place(path, text, node.offset), `${keys.join('.')} must be a list`)
  return append(config, node, JSON.stringify(item, undefined, config.unit))
}

/** The text with a value at a path; what stood there is replaced. */
export function withValue(text: string, path: string, keys: Keys, value: unknown): string {
  const cleared = withoutValue(text, path, keys, () => true)
  const config = readConfigText(cleared, path)
  const { node, rest } = walk(config, path, keys)
  return node === undefined
    ? withWhole(config, nested(keys, value))
    : append(config, node, propertyText(config, rest, value))
}

/** The text without the items of an array, or the property, that `isOurs` says; emptied holders stay. */
export function withoutValue(
  text: string,
  path: string,
  keys: Keys,
  isOurs: (value: unknown) => boolean,
): string {
  const config = readConfigText(text, path)
  const { node, rest } = walk(config, path, keys)
  if (node === undefined || rest.length > 0) return text
  if (node.type === 'array') {
    const item = node.children?.find((child) => isOurs(nodeValue(child)))
    return item === undefined ? text : withoutValue(remove(config, node, item), path, keys, isOurs)
  }
  const property = node.parent
  const holder = property?.parent
  if (property === undefined || holder === undefined || !isOurs(nodeValue(node))) return text
  return remove(config, holder, property)
}

/** Removes the object or array at a path when nothing at all is in it, and then the ones around it. */
export function withoutEmpty(text: string, path: string, keys: Keys): string {
  if (keys.length === 0) return text
  const config = readConfigText(text, path)
  const { node, rest } = walk(config, path, keys)
  const holder = node?.parent?.parent
  if (node?.parent === undefined || holder === undefined || rest.length > 0) return text
  if (!isBare(text, node)) return text
  return withoutEmpty(remove(config, holder, node.parent), path, keys.slice(0, -1))
}

/** As deep as the path goes, and what of it is missing. */
function walk(
  config: ConfigText,
  path: string,
  keys: Keys,
): { readonly node: Node | undefined; readonly rest: Keys } {
  const { root, text } = config
  let node = root
  for (const [index, key] of keys.entries()) {
    if (node === undefined) break
    if (node.type !== 'object') {
      const name = keys.slice(0, index).join('.') || 'it'
      throw unusable(place(path, text, node.offset), `${name} must be an object`)
    }
    const next: Node | undefined = propertyOf(node, key)?.value
    if (next === undefined) return { node, rest: keys.slice(index) }
    node = next
  }
  return { node, rest: [] }
}

/** A text without a value gets one. */
function withWhole({ text, eol, unit }: ConfigText, value: unknown): string {
  const start = text === '' || text.endsWith('\n') ? text : `${text}${eol}`
  return `${start}${JSON.stringify(value, undefined, unit).replaceAll('\n', eol)}${eol}`
}

function propertyText({ unit }: ConfigText, keys: Keys, value: unknown): string {
  const [first = '', ...rest] = keys
  return `${JSON.stringify(first)}: ${JSON.stringify(nested(rest, value), undefined, unit)}`
}

function nested(keys: Keys, value: unknown): unknown {
  return keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)
}
