import { defineCommand } from 'citty'
import { serverError } from '../../engine/core/server-errors.ts'
import { findMethod, methods } from '../../gateway/methods/table.ts'
import { methodCommand } from './method-command.ts'

/** Everything that can be done with one kind of thing: `hookhelm hooks list`, `hookhelm hooks create`, … */
export function nounCommand(noun: string) {
  const rows = methods.filter(({ name }) => name.startsWith(`${noun}.`))
  return defineCommand({
    meta: { name: noun, description: `${noun} of a gateway` },
    subCommands: Object.fromEntries(rows.map((row) => [row.name.slice(noun.length + 1), methodCommand(row)])),
  })
}

/** A method that needs no noun, such as `hookhelm status`. */
export function singleCommand(name: string) {
  const row = findMethod(name)
  if (row === undefined) throw serverError('gateway.request', `unknown method ${name}`)
  return methodCommand(row)
}
