import type { CelFunc } from '@bufbuild/cel'
import { HookError } from '../../core/errors/error.ts'
import { compileRegex } from '../regex.ts'
import { celEnvironment } from './environment.ts'
import type { Expr } from './load-cel.ts'
import { type ExpressionPositions, tooComplex } from './parse.ts'
import { celVariables, shellKeys } from './variables.ts'

type Node<Case extends Expr['exprKind']['case']> = Extract<Expr['exprKind'], { case: Case }>['value']

type Call = Node<'callExpr'>

/** The name of a CEL type; `dyn` if it depends on the payload. */
type CelType = string

/** The state of a check at one node. */
interface Walk {
  readonly positions: ExpressionPositions
  /** Variables of comprehensions. */
  readonly scope: ReadonlyMap<string, CelType>
  readonly inComprehension: boolean
  /** What the expression uses, and how many of its nodes are evaluated once per entry of a list. */
  readonly usage: { readonly variables: Set<string>; comprehensionSize: number }
}

const typeNames = new Set('bool bytes double int list map null_type string type uint'.split(' '))
const MIN_INT = -(2n ** 63n)
const MAX_INT = 2n ** 63n - 1n

/**
 * Checks the types of an expression, which the library does not do. Throws a coded error for unknown names, calls that
 * no overload accepts, nested comprehensions and patterns that are not literals, so that the hook is not saved.
 */
export function checkTypes(expr: Expr, positions: ExpressionPositions): Walk['usage'] {
  const usage = { variables: new Set<string>(), comprehensionSize: 0 }
  const type = typeOf({ positions, scope: new Map(), inComprehension: false, usage }, expr)
  if (type !== 'bool' && type !== 'dyn')
    throw positions.typeError(expr, `the result is of type ${type}, not true or false`)
  return usage
}

function typeOf(walk: Walk, node: Expr): CelType {
  if (walk.inComprehension) walk.usage.comprehensionSize++
  const { exprKind } = node
  switch (exprKind.case) {
    case 'constExpr':
      return typeOfConstant(walk, node, exprKind.value)
    case 'identExpr':
      return typeOfName(walk, node, exprKind.value.name)
    case 'selectExpr':
      return typeOfSelect(walk, node, exprKind.value)
    case 'callExpr':
      return typeOfCall(walk, node, exprKind.value)
    case 'listExpr':
      for (const element of exprKind.value.elements) typeOf(walk, element)
      return 'list'
    case 'structExpr':
      return typeOfMap(walk, node, exprKind.value)
    case 'comprehensionExpr':
      return typeOfComprehension(walk, node, exprKind.value)
    default:
      throw walk.positions.typeError(node, 'cannot be read')
  }
}

const constantTypes: Readonly<Record<string, CelType>> = {
  boolValue: 'bool',
  bytesValue: 'bytes',
  doubleValue: 'double',
  int64Value: 'int',
  nullValue: 'null_type',
  stringValue: 'string',
  uint64Value: 'uint',
}

function typeOfConstant({ positions }: Walk, node: Expr, { constantKind }: Node<'constExpr'>): CelType {
  const { case: kind, value } = constantKind
  if (kind === 'int64Value' && (value < MIN_INT || value > MAX_INT)) {
    const at = positions.of(node.id)
    const message = `if_expr at ${at}: the number does not fit into an int`
    throw new HookError('match.cel_syntax', message, { at: `if_expr:${at}` })
  }
  return constantTypes[kind ?? ''] ?? 'dyn'
}

function typeOfName({ scope, usage, positions }: Walk, node: Expr, name: string): CelType {
  const local = scope.get(name)
  if (local !== undefined) return local
  const variable = celVariables.get(name)
  if (variable) {
    usage.variables.add(name)
    return variable.type
  }
  if (typeNames.has(name)) return 'type'
  const known = [...celVariables.keys()].join(', ')
  throw positions.typeError(node, `there is no variable ${name}`, `It may be one of ${known}.`)
}

function typeOfSelect(walk: Walk, node: Expr, { operand, field, testOnly }: Node<'selectExpr'>): CelType {
  if (operand && isShellVariable(walk, operand)) {
    typeOf(walk, operand)
    if (!shellKeys.some((key) => key === field))
      throw walk.positions.typeError(
        node,
        `there is no shell.${field}`,
        `It may be one of ${shellKeys.join(', ')}.`,
      )
    return testOnly ? 'bool' : 'list'
  }
  const of = operand ? typeOf(walk, operand) : 'dyn'
  if (of !== 'map' && of !== 'dyn') throw walk.positions.typeError(node, `type ${of} has no field ${field}`)
  return testOnly ? 'bool' : 'dyn'
}

function isShellVariable({ scope }: Walk, { exprKind }: Expr): boolean {
  return exprKind.case === 'identExpr' && exprKind.value.name === 'shell' && !scope.has('shell')
}

function typeOfMap(walk: Walk, node: Expr, { messageName, entries }: Node<'structExpr'>): CelType {
  if (messageName !== '') throw walk.positions.typeError(node, `there is no message type ${messageName}`)
  for (const { keyKind, value } of entries) {
    if (keyKind.case === 'mapKey') typeOf(walk, keyKind.value)
    if (value) typeOf(walk, value)
  }
  return 'map'
}

function typeOfComprehension(outer: Walk, node: Expr, comprehension: Node<'comprehensionExpr'>): CelType {
  const { iterRange, iterVar, accuVar, accuInit, loopCondition, loopStep, result } = comprehension
  const { positions } = outer
  if (outer.inComprehension) {
    const at = positions.of(node.id)
    throw tooComplex(`at ${at}: all, exists, exists_one, map and filter cannot be nested`, `if_expr:${at}`)
  }
  if (!iterRange || !accuInit || !loopCondition || !loopStep || !result)
    throw positions.typeError(node, 'cannot be read')
  const walk = { ...outer, inComprehension: true }
  const over = typeOf(walk, iterRange)
  if (!['list', 'map', 'dyn'].includes(over))
    throw positions.typeError(iterRange, `type ${over} has no entries to go through`)
  const scope = new Map([...outer.scope, [accuVar, typeOf(walk, accuInit)], [iterVar, 'dyn']])
  for (const part of [loopCondition, loopStep]) typeOf({ ...walk, scope }, part)
  return typeOf({ ...walk, scope }, result)
}

/** The type of a call; throws if no such call can succeed. */
function typeOfCall(walk: Walk, node: Expr, call: Call): CelType {
  const name = call.function
  if (name === '_&&_' || name === '_||_') {
    for (const arg of call.args) requireBool(walk, arg)
    return 'bool'
  }
  if (name === '@not_strictly_false') return typesOf(walk, call.args).length > 0 ? 'bool' : 'dyn'
  if (name === '_?_:_') return typeOfChoice(walk, call)
  if (name === '_[_]') return typeOfIndex(walk, node, call)
  return typeOfFunction(walk, node, call)
}

function typeOfChoice(walk: Walk, { args: [condition, ...branches] }: Call): CelType {
  if (condition) requireBool(walk, condition)
  return commonType(typesOf(walk, branches))
}

function typeOfIndex(walk: Walk, node: Expr, { args }: Call): CelType {
  const [of] = typesOf(walk, args)
  if (of !== 'list' && of !== 'map' && of !== 'dyn')
    throw walk.positions.typeError(node, `type ${of} has no entries`)
  return 'dyn'
}

function typeOfFunction(walk: Walk, node: Expr, call: Call): CelType {
  const name = qualifiedName(walk, call)
  const target = name === call.function ? call.target : undefined
  const overloads = [...(celEnvironment().funcs.find(name) ?? [])]
  if (overloads.length === 0) throw unknownFunction(walk, node, name)
  const args = typesOf(walk, call.args)
  const on = target && typeOf(walk, target)
  const accepting = overloads.filter((overload) => accepts(overload, on, args))
  if (accepting.length === 0) {
    const shown = `${on === undefined ? '' : `${on}.`}${operatorText(name)}(${args.join(', ')})`
    throw walk.positions.typeError(node, `there is no ${shown}`)
  }
  if (name === 'matches') checkPattern(walk, node, call.args[0])
  return commonType(accepting.map(({ result }) => result.name))
}

/** `strings.quote(x)` looks like a method on a variable `strings`. */
function qualifiedName(walk: Walk, { function: name, target }: Call): string {
  if (target?.exprKind.case !== 'identExpr') return name
  const space = target.exprKind.value.name
  const qualified = `${space}.${name}`
  const isVariable = walk.scope.has(space) || celVariables.has(space)
  return !isVariable && celEnvironment().funcs.find(qualified) ? qualified : name
}

function accepts(
  { target, arguments: parameters }: CelFunc,
  on: CelType | undefined,
  args: readonly CelType[],
): boolean {
  if ((target === undefined) !== (on === undefined) || parameters.length !== args.length) return false
  const isAssignable = (expected: CelType | undefined, given: CelType | undefined): boolean =>
    expected === given || expected === 'dyn' || given === 'dyn'
  return (
    isAssignable(target?.name, on) &&
    parameters.every((parameter, index) => isAssignable(parameter.name, args[index]))
  )
}

/** Only patterns that the author wrote are compiled; one from the payload could be anything. */
function checkPattern(walk: Walk, node: Expr, pattern: Expr | undefined): void {
  const constant = pattern?.exprKind.case === 'constExpr' ? pattern.exprKind.value.constantKind : undefined
  if (constant?.case !== 'stringValue')
    throw walk.positions.typeError(node, 'the pattern of matches must be a literal')
  compileRegex(constant.value, `if_expr:${walk.positions.of(pattern?.id ?? node.id)}`)
}

function unknownFunction(walk: Walk, node: Expr, name: string) {
  if (name === 'has') return walk.positions.typeError(node, 'has() takes a field, as in has(tool_input.key)')
  return walk.positions.typeError(node, `there is no function ${name}`)
}

function requireBool(walk: Walk, node: Expr): void {
  const type = typeOf(walk, node)
  if (type !== 'bool' && type !== 'dyn')
    throw walk.positions.typeError(node, `type ${type} is neither true nor false`)
}

function typesOf(walk: Walk, nodes: readonly Expr[]): CelType[] {
  return nodes.map((node) => typeOf(walk, node))
}

function commonType(types: readonly CelType[]): CelType {
  const [first = 'dyn'] = types
  return types.every((type) => type === first) ? first : 'dyn'
}

/** `_+_` is written `+`. */
function operatorText(name: string): string {
  return name.replace(/^[@_]?(.+?)_?$/, '$1')
}
