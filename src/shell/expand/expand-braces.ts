import type { WordPart } from '../parse/shell-syntax.ts'

/** One unquoted character, or a part that braces do not look into. */
type Atom = string | WordPart

const MAX_WORDS = 1_000
/** More would be too many words or too deep in any case. */
const MAX_BRACES = 300

/** `{a,b}` and `{1..3}` as one list of parts per word; undefined if there are too many. */
export function expandBraces(parts: readonly WordPart[]): readonly (readonly WordPart[])[] | undefined {
  const hasBrace = parts.some((part) => part.kind === 'text' && !part.quoted && part.text.includes('{'))
  if (!hasBrace) return [parts]
  if (countBraces(parts) > MAX_BRACES) return undefined
  const atoms = parts.flatMap((part): Atom[] =>
    part.kind === 'text' && !part.quoted ? [...part.text] : [part],
  )
  const words = expandAtoms(atoms, 0)
  return words?.map(joinAtoms)
}

function countBraces(parts: readonly WordPart[]): number {
  let count = 0
  for (const part of parts) if (part.kind === 'text' && !part.quoted) count += part.text.split('{').length - 1
  return count
}

interface BracePair {
  readonly open: number
  readonly close: number
  readonly commas: readonly number[]
}

function expandAtoms(atoms: readonly Atom[], depth: number): Atom[][] | undefined {
  if (depth > 50) return undefined
  const pair = firstPair(atoms)
  if (!pair) return [[...atoms]]
  const before = atoms.slice(0, pair.open)
  const middle = alternatives(atoms, pair, depth)
  const after = expandAtoms(atoms.slice(pair.close + 1), depth + 1)
  if (!middle || !after || middle.length * after.length > MAX_WORDS) return undefined
  return middle.flatMap((choice) => after.map((rest) => [...before, ...choice, ...rest]))
}

function alternatives(
  atoms: readonly Atom[],
  { open, close, commas }: BracePair,
  depth: number,
): Atom[][] | undefined {
  if (commas.length === 0) return sequence(atoms.slice(open + 1, close))
  const bounds = [open, ...commas, close]
  const all: Atom[][] = []
  for (const [index, start] of bounds.slice(0, -1).entries()) {
    const expanded = expandAtoms(atoms.slice(start + 1, bounds[index + 1]), depth + 1)
    if (!expanded || all.length + expanded.length > MAX_WORDS) return undefined
    all.push(...expanded)
  }
  return all
}

/** The first pair of braces that means something, found in one pass. */
function firstPair(atoms: readonly Atom[]): BracePair | undefined {
  const open: { at: number; commas: number[] }[] = []
  let first: BracePair | undefined
  for (const [at, atom] of atoms.entries()) {
    if (atom === '{') open.push({ at, commas: [] })
    else if (atom === ',') open.at(-1)?.commas.push(at)
    else if (atom === '}') {
      const pair = open.pop()
      if (!pair || (first && first.open < pair.at)) continue
      const counts =
        pair.commas.length > 0 ||
        (at - pair.at < 64 && sequencePattern.test(sequenceText(atoms.slice(pair.at + 1, at)) ?? ''))
      if (counts) first = { open: pair.at, close: at, commas: pair.commas }
    }
    if (first && open.length === 0) return first
  }
  return first
}

const sequencePattern = /^(?:(-?\d+)\.\.(-?\d+)|([a-zA-Z])\.\.([a-zA-Z]))(?:\.\.(-?\d+))?$/

function sequenceText(atoms: readonly Atom[]): string | undefined {
  return atoms.every((atom) => typeof atom === 'string') ? atoms.join('') : undefined
}

function sequence(atoms: readonly Atom[]): Atom[][] | undefined {
  const [, low, high, from = '', to = '', stepText] = sequencePattern.exec(sequenceText(atoms) ?? '') ?? []
  const start = low === undefined ? from.charCodeAt(0) : Number(low)
  const end = high === undefined ? to.charCodeAt(0) : Number(high)
  const step = Math.abs(Number(stepText ?? 1)) || 1
  if (Math.abs(end - start) / step >= MAX_WORDS) return undefined
  const padded = [low, high].some((text) => /^-?0\d/.test(text ?? ''))
  const width = padded ? Math.max(low?.length ?? 0, high?.length ?? 0) : 0
  const numbers: number[] = []
  if (start <= end) for (let value = start; value <= end; value += step) numbers.push(value)
  else for (let value = start; value >= end; value -= step) numbers.push(value)
  return numbers.map((value) => [...(low === undefined ? String.fromCharCode(value) : pad(value, width))])
}

function pad(value: number, width: number): string {
  return value < 0 ? `-${String(-value).padStart(width - 1, '0')}` : String(value).padStart(width, '0')
}

function joinAtoms(atoms: readonly Atom[]): WordPart[] {
  const parts: WordPart[] = []
  let text = ''
  const flush = () => {
    if (text !== '') parts.push({ kind: 'text', text, quoted: false })
    text = ''
  }
  for (const atom of atoms) {
    if (typeof atom === 'string') text += atom
    else {
      flush()
      parts.push(atom)
    }
  }
  flush()
  return parts
}
