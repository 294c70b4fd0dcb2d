import { functionHandler } from '../../src/app/gateway/hooks/function-handler.ts'
import type { HandlerType } from '../../src/handlers/handler-type.ts'
import { handlerTypes } from '../../src/handlers/handlers.ts'
import { hookFileJsonSchema } from '../../src/hook-files/schema/json-schema.ts'
import type { Page } from '../page.ts'

/** Every handler type that a hook file may name: those of every process, and the one of a gateway. */
export const publishedHandlerTypes: readonly HandlerType[] = [...handlerTypes, functionHandler]

/** The published JSON Schema of a hook file. */
export function hooksSchema(): Page {
  const schema = hookFileJsonSchema(publishedHandlerTypes)
  return { path: 'schema/hooks.schema.json', text: `${JSON.stringify(schema, undefined, 2)}\n` }
}
