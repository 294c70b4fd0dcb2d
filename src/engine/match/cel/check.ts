import { HookError } from '../../core/error.ts'
import { typeOfCall } from './check-call.ts'
import type { Expr } from './load.ts'
import type { Places } from './place.ts'
import { tooComplex } from './scan.ts'
import { variables } from './variables.ts'

/** The name of a CEL type; `dyn` where only the payload knows. */
export type Type = string
type Scope = ReadonlyMap<string, Type>
type Node<Case extends Expr['exprKind']['case']> = Extract<Expr['exprKind'], { case: Case }>['value']

const typeNames = new Set('bool bytes double int list map null_type string type uint'.split(' '))
const MIN_INT = -(2n ** 63n)
const MAX_INT = 2n ** 63n - 1n

/**
 * The library checks no types, so we walk the tree: unknown names, calls that no overload fits, nested comprehensions
 * and patterns that are not literal are refused here, before the hook is saved.
 */
export class Checker {
  readonly places: Places
  readonly used = new Set<string>()
  /** How many nodes are evaluated once per entry of a list. */
  foldSize = 0
  #folding = false
  #scope: Scope = new Map()

  constructor(places: Places) {
    this.places = places
  }

  typeOf(node: Expr): Type {
    if (this.#folding) this.foldSize++
    const { exprKind } = node
    switch (exprKind.case) {
      case 'constExpr':
        return this.#typeOfConstant(node, exprKind.value)
      case 'identExpr':
        return this.#typeOfName(node, exprKind.value.name)
      case 'selectExpr':
        return this.#typeOfSelect(node, exprKind.value)
      case 'callExpr':
        return typeOfCall(this, node, exprKind.value)
      case 'listExpr':
        for (const element of exprKind.value.elements) this.typeOf(element)
        return 'list'
      case 'structExpr':
        return this.#typeOfMap(node, exprKind.value)
      case 'comprehensionExpr':
        return this.#typeOfFold(node, exprKind.value)
      default:
        throw this.places.typeError(node, 'cannot be read')
    }
  }

  /** Is this a qualified function such as `strings.quote`, rather than a method on a variable? */
  isVariable(name: string): boolean {
    return this.#scope.has(name) || variables.has(name)
  }

  #typeOfConstant(node: Expr, { constantKind }: Node<'constExpr'>): Type {
    const { case: kind, value } = constantKind
    if (kind === 'int64Value' && (value < MIN_INT || value > MAX_INT)) {
      const place = this.places.of(node.id)
      throw new HookError('match.cel_syntax', `if_expr at ${place}: the number does not fit into an int`, {
        at: `if_expr:${place}`,
      })
    }
    return kind === undefined ? 'dyn' : (constantTypes[kind] ?? 'dyn')
  }

  #typeOfName(node: Expr, written: string): Type {
    const local = this.#scope.get(written)
    if (local !== undefined) return local
    const name = written.replace(/^\./, '')
    const variable = variables.get(name)
    if (variable) {
      this.used.add(name)
      return variable.type
    }
    if (typeNames.has(name)) return 'type'
    throw this.places.typeError(
      node,
      `there is no variable ${name}`,
      `It may be one of ${[...variables.keys()].join(', ')}.`,
    )
  }

  #typeOfSelect(node: Expr, { operand, field, testOnly }: Node<'selectExpr'>): Type {
    const of = operand ? this.typeOf(operand) : 'dyn'
    if (of !== 'map' && of !== 'dyn') throw this.places.typeError(node, `a ${of} has no field ${field}`)
    return testOnly ? 'bool' : 'dyn'
  }

  #typeOfMap(node: Expr, { messageName, entries }: Node<'structExpr'>): Type {
    if (messageName !== '') throw this.places.typeError(node, `there is no message type ${messageName}`)
    for (const { keyKind, value } of entries) {
      if (keyKind.case === 'mapKey') this.typeOf(keyKind.value)
      if (value) this.typeOf(value)
    }
    return 'map'
  }

  #typeOfFold(node: Expr, fold: Node<'comprehensionExpr'>): Type {
    const { iterRange, iterVar, accuVar, accuInit, loopCondition, loopStep, result } = fold
    if (this.#folding) {
      const place = this.places.of(node.id)
      throw tooComplex(
        `at ${place}: all, exists, exists_one, map and filter cannot be nested`,
        `if_expr:${place}`,
      )
    }
    if (!iterRange || !accuInit || !loopCondition || !loopStep || !result)
      throw this.places.typeError(node, 'cannot be read')
    const outer = this.#scope
    this.#folding = true
    const over = this.typeOf(iterRange)
    if (!['list', 'map', 'dyn'].includes(over))
      throw this.places.typeError(iterRange, `a ${over} has no entries to go through`)
    this.#scope = new Map([...outer, [accuVar, this.typeOf(accuInit)], [iterVar, 'dyn']])
    this.typeOf(loopCondition)
    this.typeOf(loopStep)
    const type = this.typeOf(result)
    this.#folding = false
    this.#scope = outer
    return type
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
