import { HookError } from '../engine/core/errors/error.ts'
import type { Handler } from '../engine/core/handler.ts'
import type { Schema } from '../engine/core/schema/schema.ts'

/** A handler that may hold processes, threads or connections. */
export type DisposableHandler<Config = unknown, Settings = unknown> = Handler<Config, Settings> & {
  dispose?(): Promise<void>
}

/** A handler before it is created: what docs, editors and forms need to know, and how to create it. */
export interface HandlerType<Options = never, Created extends DisposableHandler = DisposableHandler> {
  /** The `handler_type` of its hooks. */
  readonly type: string
  /** One sentence for the docs. */
  readonly about: string
  /** The shape of `config`. */
  readonly schema: Schema
  create(options: Options): Created
}

/** The error of a field of `config`. */
export function configError(field: string, message: string): HookError {
  return new HookError('config.field', message, { at: `config.${field}` })
}

type HandlerBody<Config, Settings> = Omit<DisposableHandler<Config, Settings>, 'type' | 'schema'>

/** Declares a handler type. `create` returns the handler without its type and schema, which are added. */
export function defineHandlerType<Settings, Config, Options, Body extends object>(declaration: {
  readonly type: string
  readonly about: string
  readonly schema: Schema<Settings>
  readonly create: (options: Options) => HandlerBody<Config, Settings> & Body
}): HandlerType<Options, DisposableHandler<Config, Settings> & Body> {
  const { type, schema, create } = declaration
  return { ...declaration, create: (options) => ({ ...create(options), type, schema }) }
}
