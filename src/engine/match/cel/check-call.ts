import type { CelFunc } from '@bufbuild/cel'
import { celEnvironment, celPattern } from './functions.ts'
import type { Expr } from './load.ts'
import { variables } from './variables.ts'
import type { Type, Walk } from './walk.ts'

type Call = Extract<Expr['exprKind'], { case: 'callExpr' }>['value']

/** The type of a call's answer, or a coded error when no such call can succeed. */
export function typeOfCall(walk: Walk, node: Expr, call: Call): Type {
  const name = call.function
  if (name === '_&&_' || name === '_||_') return typeOfLogic(walk, call)
  if (name === '@not_strictly_false') return typesOf(walk, call.args).length > 0 ? 'bool' : 'dyn'
  if (name === '_?_:_') return typeOfChoice(walk, call)
  if (name === '_[_]') return typeOfIndex(walk, node, call)
  return typeOfFunction(walk, node, call)
}

function typeOfLogic(walk: Walk, { args }: Call): Type {
  for (const arg of args) requireBool(walk, arg)
  return 'bool'
}

function typeOfChoice(walk: Walk, { args: [condition, ...branches] }: Call): Type {
  if (condition) requireBool(walk, condition)
  return common(typesOf(walk, branches))
}

function typeOfIndex(walk: Walk, node: Expr, { args }: Call): Type {
  const [of] = typesOf(walk, args)
  if (of !== 'list' && of !== 'map' && of !== 'dyn')
    throw walk.places.typeError(node, `type ${of} has no entries`)
  return 'dyn'
}

function typeOfFunction(walk: Walk, node: Expr, call: Call): Type {
  const name = qualifiedName(walk, call)
  const target = name === call.function ? call.target : undefined
  const overloads = [...(celEnvironment().funcs.find(name) ?? [])]
  if (overloads.length === 0) throw unknownFunction(walk, node, name)
  const args = typesOf(walk, call.args)
  const on = target && walk.typeOf(walk, target)
  const fitting = overloads.filter((overload) => fits(overload, on, args))
  if (fitting.length === 0) {
    const shown = `${on === undefined ? '' : `${on}.`}${spoken(name)}(${args.join(', ')})`
    throw walk.places.typeError(node, `there is no ${shown}`)
  }
  if (name === 'matches') checkPattern(walk, node, call.args[0])
  return common(fitting.map(({ result }) => result.name))
}

/** `strings.quote(x)` looks like a method on a variable `strings`. */
function qualifiedName(walk: Walk, { function: name, target }: Call): string {
  if (target?.exprKind.case !== 'identExpr') return name
  const space = target.exprKind.value.name
  const qualified = `${space}.${name}`
  const isVariable = walk.scope.has(space) || variables.has(space)
  return !isVariable && celEnvironment().funcs.find(qualified) ? qualified : name
}

function fits(
  { target, arguments: parameters }: CelFunc,
  on: Type | undefined,
  args: readonly Type[],
): boolean {
  if ((target === undefined) !== (on === undefined) || parameters.length !== args.length) return false
  const accepts = (expected: Type | undefined, given: Type | undefined): boolean =>
    expected === given || expected === 'dyn' || given === 'dyn'
  return (
    accepts(target?.name, on) && parameters.every((parameter, index) => accepts(parameter.name, args[index]))
  )
}

/** A pattern from the payload could be anything; only one its author wrote is compiled. */
function checkPattern(walk: Walk, node: Expr, pattern: Expr | undefined): void {
  const constant = pattern?.exprKind.case === 'constExpr' ? pattern.exprKind.value.constantKind : undefined
  if (constant?.case !== 'stringValue')
    throw walk.places.typeError(node, 'the pattern of matches must be a literal')
  celPattern(constant.value, `if_expr:${walk.places.of(pattern?.id ?? node.id)}`)
}

function unknownFunction(walk: Walk, node: Expr, name: string) {
  if (name === 'has') return walk.places.typeError(node, 'has() takes a field, as in has(tool_input.key)')
  return walk.places.typeError(node, `there is no function ${name}`)
}

function requireBool(walk: Walk, node: Expr): void {
  const type = walk.typeOf(walk, node)
  if (type !== 'bool' && type !== 'dyn')
    throw walk.places.typeError(node, `type ${type} is neither true nor false`)
}

function typesOf(walk: Walk, nodes: readonly Expr[]): Type[] {
  return nodes.map((node) => walk.typeOf(walk, node))
}

function common(types: readonly Type[]): Type {
  const [first = 'dyn'] = types
  return types.every((type) => type === first) ? first : 'dyn'
}

/** `_+_` is written `+`. */
function spoken(name: string): string {
  return name.replace(/^[@_]?(.+?)_?$/, '$1')
}
