import type { CelFunc } from '@bufbuild/cel'
import type { Checker, Type } from './check.ts'
import { celEnvironment, celPattern } from './functions.ts'
import type { Expr } from './load.ts'

type Call = Extract<Expr['exprKind'], { case: 'callExpr' }>['value']

/** The type of a call's answer, or a coded error when no such call can succeed. */
export function typeOfCall(checker: Checker, node: Expr, call: Call): Type {
  const name = call.function
  if (name === '_&&_' || name === '_||_') return typeOfLogic(checker, call)
  if (name === '@not_strictly_false') return typesOf(checker, call.args).length > 0 ? 'bool' : 'dyn'
  if (name === '_?_:_') return typeOfChoice(checker, call)
  if (name === '_[_]') return typeOfIndex(checker, node, call)
  return typeOfFunction(checker, node, call)
}

function typeOfLogic(checker: Checker, { args }: Call): Type {
  for (const arg of args) requireBool(checker, arg)
  return 'bool'
}

function typeOfChoice(checker: Checker, { args: [condition, ...branches] }: Call): Type {
  if (condition) requireBool(checker, condition)
  return common(typesOf(checker, branches))
}

function typeOfIndex(checker: Checker, node: Expr, { args }: Call): Type {
  const [of] = typesOf(checker, args)
  if (of !== 'list' && of !== 'map' && of !== 'dyn')
    throw checker.places.typeError(node, `a ${of} has no entries`)
  return 'dyn'
}

function typeOfFunction(checker: Checker, node: Expr, call: Call): Type {
  const name = qualifiedName(checker, call)
  const target = name === call.function ? call.target : undefined
  const overloads = [...(celEnvironment().funcs.find(name) ?? [])]
  if (overloads.length === 0) throw unknownFunction(checker, node, name)
  const args = typesOf(checker, call.args)
  const on = target && checker.typeOf(target)
  const fitting = overloads.filter((overload) => fits(overload, on, args))
  if (fitting.length === 0) {
    const shown = `${on === undefined ? '' : `${on}.`}${spoken(name)}(${args.join(', ')})`
    throw checker.places.typeError(node, `there is no ${shown}`)
  }
  if (name === 'matches') checkPattern(checker, node, call.args[0])
  return common(fitting.map(({ result }) => result.name))
}

/** `strings.quote(x)` looks like a method on a variable `strings`. */
function qualifiedName(checker: Checker, { function: name, target }: Call): string {
  if (target?.exprKind.case !== 'identExpr') return name
  const space = target.exprKind.value.name
  const qualified = `${space}.${name}`
  return !checker.isVariable(space) && celEnvironment().funcs.find(qualified) ? qualified : name
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
function checkPattern(checker: Checker, node: Expr, pattern: Expr | undefined): void {
  const constant = pattern?.exprKind.case === 'constExpr' ? pattern.exprKind.value.constantKind : undefined
  if (constant?.case !== 'stringValue')
    throw checker.places.typeError(node, 'the pattern of matches must be a literal')
  celPattern(constant.value, `if_expr:${checker.places.of(pattern?.id ?? node.id)}`)
}

function unknownFunction(checker: Checker, node: Expr, name: string) {
  if (name === 'has') return checker.places.typeError(node, 'has() takes a field, as in has(tool_input.key)')
  return checker.places.typeError(node, `there is no function ${name}`)
}

function requireBool(checker: Checker, node: Expr): void {
  const type = checker.typeOf(node)
  if (type !== 'bool' && type !== 'dyn')
    throw checker.places.typeError(node, `a ${type} is neither true nor false`)
}

function typesOf(checker: Checker, nodes: readonly Expr[]): Type[] {
  return nodes.map((node) => checker.typeOf(node))
}

function common(types: readonly Type[]): Type {
  const [first = 'dyn'] = types
  return types.every((type) => type === first) ? first : 'dyn'
}

/** `_+_` is written `+`. */
function spoken(name: string): string {
  return name.replace(/^[@_]?(.+?)_?$/, '$1')
}
