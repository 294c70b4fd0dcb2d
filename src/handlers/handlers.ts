import { HookError } from '../engine/core/errors/error.ts'
import { handlerError } from '../engine/core/errors/handler-errors.ts'
import type { PayloadShape } from '../engine/core/schema/payload-shape.ts'
import { type AgentHandlerOptions, agentHandler } from './agent/agent.ts'
import { answerHandler } from './answer.ts'
import { type CommandHandlerOptions, commandHandler } from './command/command.ts'
import type { DisposableHandler, HandlerType } from './handler-type.ts'
import { type HttpHandlerOptions, httpHandler } from './http/http.ts'
import { type PromptHandlerOptions, promptHandler } from './prompt/prompt.ts'
import { scriptHandler } from './script/script.ts'

/** What a process gives to its handlers; each takes what it needs. */
export type HandlerParts = CommandHandlerOptions &
  HttpHandlerOptions &
  PromptHandlerOptions &
  AgentHandlerOptions

/** Every handler type. A new handler is its folder and one line here. */
export const handlerTypes: readonly HandlerType<HandlerParts>[] = [
  commandHandler,
  httpHandler,
  promptHandler,
  agentHandler,
  scriptHandler,
  answerHandler,
]

/** Creates one handler of each type. `dispose` ends what they hold, but not the parts they were given. */
export function createHandlers(parts: HandlerParts): {
  readonly handlers: readonly DisposableHandler[]
  dispose(): Promise<void>
} {
  const handlers = handlerTypes.map((type) => type.create(parts))
  return {
    handlers,
    async dispose() {
      await Promise.all(handlers.map((handler) => handler.dispose?.()))
    },
  }
}

let builtIn: ReadonlyMap<string, DisposableHandler> | undefined

/** The handlers of a process that only checks hooks: they read configs and run nothing. */
export function builtInHandlers(): ReadonlyMap<string, DisposableHandler> {
  const noModel = () => Promise.reject(handlerError('prompt.model', 'no model is configured to ask'))
  const checkedOnly: PayloadShape = {
    afterToolBlock: 'context',
    shape() {
      throw new HookError('config.field', 'this program only checks hooks and runs none')
    },
  }
  builtIn ??= new Map(
    createHandlers({ models: { find: noModel }, findPayloadShape: () => checkedOnly }).handlers.map(
      (handler) => [handler.type, handler],
    ),
  )
  return builtIn
}
