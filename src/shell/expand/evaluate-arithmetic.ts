/** What arithmetic reads and changes. */
export interface ArithmeticScope {
  /** The value of a variable; undefined if it is unknown or no number. */
  readonly numberOf: (name: string) => number | undefined
  readonly assign: (name: string, value: number | undefined) => void
}

interface Reader {
  readonly tokens: readonly string[]
  pos: number
  readonly scope: ArithmeticScope
}

const tokenPattern =
  /\s*(0[xX][0-9a-fA-F]+|\d+|[A-Za-z_]\w*|\*\*|<<=?|>>=?|[<>=!]=|&&|\|\||\+\+|--|[-+*/%&|^]=|[-+*/%<>=!~&|^?:(),])/y

/** The value of an arithmetic expression; undefined if it cannot be known. */
export function evaluateArithmetic(text: string, scope: ArithmeticScope): number | undefined {
  if (text.trim() === '') return 0
  const value = evaluate(text.trim(), scope)
  // If the expression is not understood, neither are its assignments.
  if (value === undefined && /\+\+|--|(^|[^<>=!])=(?!=)/.test(text))
    for (const [name] of text.matchAll(/[A-Za-z_]\w*/g)) scope.assign(name, undefined)
  return value
}

function evaluate(text: string, scope: ArithmeticScope): number | undefined {
  const tokens: string[] = []
  tokenPattern.lastIndex = 0
  while (tokenPattern.lastIndex < text.length) {
    const found = tokenPattern.exec(text)?.[1]
    if (found === undefined || tokens.length > 200) return undefined
    tokens.push(found)
  }
  // Only one side of these runs, so an assignment in them may or may not happen.
  const isConditional = tokens.some((token) => token === '&&' || token === '||' || token === '?')
  const assign: ArithmeticScope['assign'] = (name, value) =>
    scope.assign(name, isConditional ? undefined : value)
  const reader: Reader = { tokens, pos: 0, scope: { ...scope, assign } }
  let value = readAssignmentExpression(reader)
  while (skip(reader, ',')) value = readAssignmentExpression(reader)
  return reader.pos === tokens.length && value !== undefined && Number.isSafeInteger(value)
    ? value
    : undefined
}

function skip(reader: Reader, token: string): boolean {
  if (reader.tokens[reader.pos] !== token) return false
  reader.pos++
  return true
}

function isName(token: string | undefined): token is string {
  return token !== undefined && /^[A-Za-z_]/.test(token)
}

function readAssignmentExpression(reader: Reader): number | undefined {
  const { tokens, pos, scope } = reader
  const name = tokens[pos]
  const operator = tokens[pos + 1]
  if (!isName(name) || operator === undefined || !/^([-+*/%&|^]|<<|>>)?=$/.test(operator))
    return readTernary(reader)
  reader.pos += 2
  const right = readAssignmentExpression(reader)
  const value = operator === '=' ? right : compute(operator.slice(0, -1), scope.numberOf(name), right)
  scope.assign(name, value)
  return value
}

function readTernary(reader: Reader): number | undefined {
  const condition = readBinary(reader, 0)
  if (!skip(reader, '?')) return condition
  const whenTrue = readAssignmentExpression(reader)
  if (!skip(reader, ':')) return undefined
  const whenFalse = readAssignmentExpression(reader)
  if (condition === undefined) return undefined
  return condition === 0 ? whenFalse : whenTrue
}

const levels: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['|'],
  ['^'],
  ['&'],
  ['==', '!='],
  ['<', '>', '<=', '>='],
  ['<<', '>>'],
  ['+', '-'],
  ['*', '/', '%'],
  ['**'],
]

function readBinary(reader: Reader, level: number): number | undefined {
  const operators = levels[level]
  if (!operators) return readUnary(reader)
  let left = readBinary(reader, level + 1)
  for (;;) {
    const operator = reader.tokens[reader.pos]
    if (operator === undefined || !operators.includes(operator)) return left
    reader.pos++
    left = compute(operator, left, readBinary(reader, level + 1))
  }
}

function compute(operator: string, a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return undefined
  const calculate = calculations[operator]
  const value = calculate?.(a, b)
  return value !== undefined && Number.isSafeInteger(value) ? value : undefined
}

const calculations: Readonly<Record<string, (a: number, b: number) => number>> = {
  '||': (a, b) => Number(a !== 0 || b !== 0),
  '&&': (a, b) => Number(a !== 0 && b !== 0),
  '|': (a, b) => Number(BigInt(a) | BigInt(b)),
  '^': (a, b) => Number(BigInt(a) ^ BigInt(b)),
  '&': (a, b) => Number(BigInt(a) & BigInt(b)),
  '==': (a, b) => Number(a === b),
  '!=': (a, b) => Number(a !== b),
  '<': (a, b) => Number(a < b),
  '>': (a, b) => Number(a > b),
  '<=': (a, b) => Number(a <= b),
  '>=': (a, b) => Number(a >= b),
  '<<': (a, b) => (b < 0 || b > 52 ? Number.NaN : a * 2 ** b),
  '>>': (a, b) => (b < 0 || b > 52 ? Number.NaN : Math.floor(a / 2 ** b)),
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => Math.trunc(a / b),
  '%': (a, b) => a % b,
  '**': (a, b) => (b < 0 ? Number.NaN : a ** b),
}

function readUnary(reader: Reader): number | undefined {
  const token = reader.tokens[reader.pos++]
  if (token === undefined) return undefined
  if (token === '(') {
    const value = readAssignmentExpression(reader)
    return skip(reader, ')') ? value : undefined
  }
  if (token === '++' || token === '--') return step(reader, reader.tokens[reader.pos++], token)
  if ('+-!~'.includes(token)) {
    const value = readUnary(reader)
    if (value === undefined) return undefined
    return token === '-' ? -value : token === '!' ? Number(value === 0) : token === '~' ? -value - 1 : value
  }
  if (isName(token)) {
    const value = reader.scope.numberOf(token)
    const next = reader.tokens[reader.pos]
    if (next === '++' || next === '--') {
      reader.pos++
      step(reader, token, next)
    }
    return value
  }
  // A leading zero means octal, in bash and in zsh differently.
  return /^0\d/.test(token) ? undefined : /^\d/.test(token) ? Number(token) : undefined
}

function step({ scope }: Reader, name: string | undefined, operator: string): number | undefined {
  if (!isName(name)) return undefined
  const value = compute(operator === '++' ? '+' : '-', scope.numberOf(name), 1)
  scope.assign(name, value)
  return value
}
