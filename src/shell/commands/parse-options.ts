import { describeField, type WordField } from '../expand/shell-text.ts'

/** Which options a program has. */
export interface OptionSpec {
  /** Every name of an option → its canonical name, which is the short one if there is one. */
  readonly names: ReadonlyMap<string, string>
  /** Canonical names of the options that take a value. */
  readonly values: ReadonlySet<string>
  /** Whether options end at the first operand. */
  readonly stops: boolean
  /** Whether a single hyphen starts a long option: `find -name`. */
  readonly singleHyphen: boolean
}

const specs = new Map<string, OptionSpec>()

/** The options of a record. */
export function optionSpec(text: string): OptionSpec {
  const spec = specs.get(text) ?? readSpec(text)
  specs.set(text, spec)
  return spec
}

function readSpec(text: string): OptionSpec {
  const names = new Map<string, string>()
  const values = new Set<string>()
  const words = text.split(' ').filter((word) => word !== '')
  for (const word of words) {
    if (word === '+' || word === '-') continue
    const takesValue = word.endsWith(':')
    const [name = '', short] = (takesValue ? word.slice(0, -1) : word).split('=')
    const canonical = short ?? name
    names.set(name, canonical)
    if (!names.has(canonical)) names.set(canonical, canonical)
    if (takesValue) values.add(canonical)
  }
  return { names, values, stops: words.includes('+'), singleHyphen: words.includes('-') }
}

/** Of a program without a record, no option takes a value. */
export const NO_OPTIONS = optionSpec('')

export interface ParsedOption {
  /** The canonical name. */
  readonly name: string
  readonly value?: WordField
}

export interface ParsedOptions {
  readonly options: readonly ParsedOption[]
  readonly operands: readonly WordField[]
}

/** Splits arguments into options and operands, as GNU programs do. */
export function parseOptions(args: readonly WordField[], spec: OptionSpec): ParsedOptions {
  const options: ParsedOption[] = []
  const operands: WordField[] = []
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? []
    const text = optionText(arg)
    if (text === '--') {
      operands.push(...args.slice(index + 1))
      break
    }
    if (text === undefined || text === '-') {
      if (spec.stops) {
        operands.push(...args.slice(index))
        break
      }
      operands.push(arg)
      continue
    }
    const found =
      text.startsWith('--') || spec.singleHyphen ? readLong(arg, text, spec) : readShort(arg, text, spec)
    options.push(...found)
    const last = found.at(-1)
    if (last && last.value === undefined && spec.values.has(last.name)) {
      index++
      const value = args[index]
      if (value) options[options.length - 1] = { name: last.name, value }
    }
  }
  return { options, operands }
}

/** The text of an argument that certainly starts with a hyphen. */
function optionText([first, ...rest]: WordField): string | undefined {
  if (typeof first?.value !== 'string' || !first.value.startsWith('-')) return undefined
  return describeField([first, ...rest])
}

function readLong(arg: WordField, text: string, spec: OptionSpec): ParsedOption[] {
  const hyphens = text.startsWith('--') ? 2 : 1
  const equals = text.indexOf('=')
  const written = text.slice(hyphens, equals === -1 ? undefined : equals)
  const name = spec.names.get(written) ?? uniquePrefix(written, spec) ?? written
  return [equals === -1 ? { name } : { name, value: sliceField(arg, equals + 1) }]
}

/** GNU programs accept the start of a long option if no other option starts like it. */
function uniquePrefix(written: string, { names }: OptionSpec): string | undefined {
  if (written.length < 2) return undefined
  const found = new Set(
    [...names].filter(([name]) => name.startsWith(written)).map(([, canonical]) => canonical),
  )
  return found.size === 1 ? [...found][0] : undefined
}

/** `-rf` is `-r -f`; the first letter that takes a value takes the rest. */
function readShort(arg: WordField, text: string, spec: OptionSpec): ParsedOption[] {
  const whole = spec.names.get(text.slice(1))
  if (whole !== undefined && text.length > 2) return [{ name: whole }]
  // Without a table, letters of an unknown program may be one word: `-jar`.
  if (spec.names.size === 0) return [{ name: text.slice(1) }]
  const options: ParsedOption[] = []
  for (let index = 1; index < text.length; index++) {
    const letter = text[index] ?? ''
    const name = spec.names.get(letter) ?? letter
    if (spec.values.has(name) && index + 1 < text.length) {
      options.push({ name, value: sliceField(arg, index + 1) })
      break
    }
    options.push({ name })
  }
  return options
}

/** The argument without its first characters. */
export function sliceField(field: WordField, start: number): WordField {
  let left = start
  return field.flatMap((piece) => {
    const { value } = piece
    if (left === 0) return [piece]
    if (typeof value !== 'string') {
      left = Math.max(0, left - value.source.length)
      return []
    }
    const skipped = Math.min(left, value.length)
    left -= skipped
    return skipped === value.length ? [] : [{ ...piece, value: value.slice(skipped) }]
  })
}

/** The value of an option that is given once or several times. Its name may have the hyphens of a record: `-o`, `--output`. */
export function optionValues(options: readonly ParsedOption[], ...names: readonly string[]): WordField[] {
  return options.flatMap((option) => (option.value && hasOption([option], ...names) ? [option.value] : []))
}

export function hasOption(options: readonly ParsedOption[], ...names: readonly string[]): boolean {
  const bare = names.map((name) => name.replace(/^-+/, ''))
  return options.some(({ name }) => bare.includes(name))
}
