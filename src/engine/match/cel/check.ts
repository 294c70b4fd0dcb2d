import { HookError } from '../../core/error.ts'
import { typeOfCall } from './check-call.ts'
import type { Expr } from './load.ts'
import type { Places } from './place.ts'
import { tooComplex } from './scan.ts'
import { variables } from './variables.ts'
import type { Type, Walk } from './walk.ts'

type Node<Case extends Expr['exprKind']['case']> = Extract<Expr['exprKind'], { case: Case }>['value']

const typeNames = new Set('bool bytes double int list map null_type string type uint'.split(' '))
const MIN_INT = -(2n ** 63n)
const MAX_INT = 2n ** 63n - 1n

/**
 * The library checks no types, so we walk the tree: unknown names, calls that no overload fits, nested comprehensions
 * and patterns that are not literal are refused here, before the hook is saved.
 */
export function checkCondition(expr: Expr, places: Places): Walk['seen'] {
  const seen = { variables: new Set<string>(), foldSize: 0 }
  const type = typeOf({ places, typeOf, scope: new Map(), folding: false, seen }, expr)
  if (type !== 'bool' && type !== 'dyn')
    throw places.typeError(expr, `the answer is of type ${type}, not true or false`)
  return seen
}

function typeOf(walk: Walk, node: Expr): Type {
  if (walk.folding) walk.seen.foldSize++
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
      return typeOfFold(walk, node, exprKind.value)
    default:
      throw walk.places.typeError(node, 'cannot be read')
  }
}

const constantTypes: Readonly<Record<string, Type>> = {
  boolValue: 'bool',
  bytesValue: 'bytes',
  doubleValue: 'double',
  int64Value: 'int',
  nullValue: 'null_type',
  stringValue: 'string',
  uint64Value: 'uint',
}

function typeOfConstant({ places }: Walk, node: Expr, { constantKind }: Node<'constExpr'>): Type {
  const { case: kind, value } = constantKind
  if (kind === 'int64Value' && (value < MIN_INT || value > MAX_INT)) {
    const at = places.of(node.id)
    const message = `if_expr at ${at}: the number does not fit into an int`
    throw new HookError('match.cel_syntax', message, { at: `if_expr:${at}` })
  }
  return constantTypes[kind ?? ''] ?? 'dyn'
}

function typeOfName({ scope, seen, places }: Walk, node: Expr, name: string): Type {
  const local = scope.get(name)
  if (local !== undefined) return local
  const variable = variables.get(name)
  if (variable) {
    seen.variables.add(name)
    return variable.type
  }
  if (typeNames.has(name)) return 'type'
  const known = [...variables.keys()].join(', ')
  throw places.typeError(node, `there is no variable ${name}`, `It may be one of ${known}.`)
}

function typeOfSelect(walk: Walk, node: Expr, { operand, field, testOnly }: Node<'selectExpr'>): Type {
  const of = operand ? typeOf(walk, operand) : 'dyn'
  if (of !== 'map' && of !== 'dyn') throw walk.places.typeError(node, `type ${of} has no field ${field}`)
  return testOnly ? 'bool' : 'dyn'
}

function typeOfMap(walk: Walk, node: Expr, { messageName, entries }: Node<'structExpr'>): Type {
  if (messageName !== '') throw walk.places.typeError(node, `there is no message type ${messageName}`)
  for (const { keyKind, value } of entries) {
    if (keyKind.case === 'mapKey') typeOf(walk, keyKind.value)
    if (value) typeOf(walk, value)
  }
  return 'map'
}

function typeOfFold(outer: Walk, node: Expr, fold: Node<'comprehensionExpr'>): Type {
  const { iterRange, iterVar, accuVar, accuInit, loopCondition, loopStep, result } = fold
  const { places } = outer
  if (outer.folding) {
    const at = places.of(node.id)
    throw tooComplex(`at ${at}: all, exists, exists_one, map and filter cannot be nested`, `if_expr:${at}`)
  }
  if (!iterRange || !accuInit || !loopCondition || !loopStep || !result)
    throw places.typeError(node, 'cannot be read')
  const walk = { ...outer, folding: true }
  const over = typeOf(walk, iterRange)
  if (!['list', 'map', 'dyn'].includes(over))
    throw places.typeError(iterRange, `type ${over} has no entries to go through`)
  const scope = new Map([...outer.scope, [accuVar, typeOf(walk, accuInit)], [iterVar, 'dyn']])
  for (const part of [loopCondition, loopStep]) typeOf({ ...walk, scope }, part)
  return typeOf({ ...walk, scope }, result)
}
