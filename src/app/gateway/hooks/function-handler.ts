import type { HookContext } from '../../../engine/core/context.ts'
import { HookError } from '../../../engine/core/errors/error.ts'
import { schema } from '../../../engine/core/schema/schema.ts'
import { nearest } from '../../../engine/core/values/nearest.ts'
import { defineHandlerType } from '../../../handlers/handler-type.ts'

/** Functions of the program that embeds the gateway, by the name that hooks of type `function` use. */
export type Functions = Readonly<Record<string, (payload: never, context: HookContext) => unknown>>

type HookFunction = (payload: unknown, context: HookContext) => unknown

export const functionHandler = defineHandlerType({
  type: 'function',
  about: 'Calls a function of the program that embeds the gateway.',
  schema: schema.object({ name: schema.text('The name under which the program passed the function.') }),
  create: (functions: Functions) => ({
    read: ({ name }) => findFunction(functions, name),
    run: ({ config: call, payload, context }) => call(payload, context),
  }),
})

function findFunction(functions: Functions, name: string): HookFunction {
  // The payload type of a function is the promise of its author.
  if (Object.hasOwn(functions, name)) return functions[name] as HookFunction
  const near = nearest(name, Object.keys(functions))
  throw new HookError('config.field', `there is no function ${JSON.stringify(name)}`, {
    at: 'config.name',
    ...(near === undefined ? {} : { hint: `Did you mean ${near}?` }),
  })
}
