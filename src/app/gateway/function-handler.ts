import { isRecord } from '../../engine/core/check.ts'
import type { HookContext } from '../../engine/core/context.ts'
import { HookError } from '../../engine/core/error.ts'
import type { Handler } from '../../engine/core/handler.ts'
import { nearest } from '../../engine/core/nearest.ts'

/** Functions of the program that embeds the gateway, by the name that hooks of type `function` use. */
export type Functions = Readonly<Record<string, (payload: never, context: HookContext) => unknown>>

type Run = (payload: unknown, context: HookContext) => unknown

export function functionHandler(functions: Functions): Handler<Run> {
  return {
    type: 'function',
    read(config) {
      const name = isRecord(config) ? config.name : undefined
      if (typeof name === 'string' && Object.hasOwn(functions, name)) return functions[name] as Run
      const near = typeof name === 'string' ? nearest(name, Object.keys(functions)) : undefined
      throw new HookError('config.field', `there is no function ${JSON.stringify(name)}`, {
        at: 'config.name',
        ...(near === undefined ? {} : { hint: `did you mean ${near}?` }),
      })
    },
    run: ({ config, payload, context }) => config(payload, context),
  }
}
