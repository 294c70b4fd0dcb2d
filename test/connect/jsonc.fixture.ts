import fc from 'fast-check'

/** How one file is written: what stands between its tokens, by turns. */
interface Taste {
  readonly gaps: readonly string[]
  readonly trailing: readonly boolean[]
  readonly eol: '\n' | '\r\n'
}

/** Blanks and comments, as people and machines leave them. */
const gap = fc.oneof(
  fc.constantFrom('', ' ', '\n', '\n  ', '\n    ', '\t', '\n\t\t', '\n\n  '),
  fc.constantFrom('/* a */', ' /* , ] } */ ', '\n  // x, "hooks": []\n  ', ' // ]\n'),
)

const taste: fc.Arbitrary<Taste> = fc.record({
  gaps: fc.array(gap, { minLength: 1, maxLength: 12 }),
  trailing: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
  eol: fc.constantFrom('\n', '\r\n'),
})

const name = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.constantFrom('__proto__', 'permissions', 'env', '//', '/*', '"', 'constructor', 'ключ'),
)

/** A configuration of an agent: whatever it likes, and hooks of others. */
export function settings(events: readonly string[], hook: fc.Arbitrary<unknown>): fc.Arbitrary<object> {
  const rest = fc.dictionary(
    name.filter((key) => key !== 'hooks' && key !== 'version'),
    fc.jsonValue({ maxDepth: 3 }),
    { maxKeys: 4 },
  )
  const hooks = fc.dictionary(fc.constantFrom(...events), fc.array(hook, { maxLength: 3 }), { maxKeys: 4 })
  return fc
    .tuple(rest, fc.option(hooks, { nil: undefined }), fc.boolean())
    .map(([others, own, first]) =>
      own === undefined ? others : first ? { hooks: own, ...others } : { ...others, hooks: own },
    )
}

/** The same data in one of the countless ways to write it. */
export function writings(value: fc.Arbitrary<object>): fc.Arbitrary<string> {
  const pretty = fc
    .tuple(value, fc.constantFrom('  ', '    ', '\t', ''), fc.constantFrom('', '\n'))
    .map(([data, unit, end]) => JSON.stringify(data, undefined, unit) + end)
  const odd = fc.tuple(value, taste).map(([data, given]) => written(data, given))
  return fc.tuple(fc.oneof(pretty, odd), fc.constantFrom('', '\uFEFF')).map(([text, mark]) => mark + text)
}

function written(data: unknown, { gaps, trailing, eol }: Taste): string {
  let turn = 0
  const next = () => gaps[turn++ % gaps.length] ?? ''
  const isTrailing = () => trailing[turn++ % trailing.length] ?? false
  const print = (value: unknown): string => {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value)
    const list = Array.isArray(value)
    const items = list
      ? value.map((item) => `${next()}${print(item)}${next()}`)
      : Object.entries(value).map(
          ([key, item]) => `${next()}${JSON.stringify(key)}${next()}:${next()}${print(item)}${next()}`,
        )
    const end = items.length > 0 && isTrailing() ? `,${next()}` : items.length === 0 ? next() : ''
    return `${list ? '[' : '{'}${items.join(',')}${end}${list ? ']' : '}'}`
  }
  return `${next()}${print(data)}${next()}`.replaceAll('\n', eol)
}
