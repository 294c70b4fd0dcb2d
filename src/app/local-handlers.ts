import { findPayloadShape } from '../agents/table.ts'
import type { Handler, Host } from '../engine/core/handler.ts'
import type { Log } from '../engine/core/records/sink.ts'
import { createHandlers } from '../handlers/handlers.ts'
import { createModels } from '../handlers/model/models.ts'
import { createPromptAgentHost } from '../runs/runner/prompt-agent-host.ts'
import { createOutbound } from '../safe/outbound/outbound.ts'
import { localModels, outboundAllowed } from './environment.ts'

interface LocalParts {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly log: Log
}

/** Every handler, for a process that reads hook files itself. */
export function localHandlers({ env, log }: LocalParts): {
  handlers: readonly Handler[]
  host: Host
  dispose(): Promise<void>
} {
  const outbound = createOutbound({ allow: outboundAllowed(env), log })
  const models = createModels({ ...localModels(env), fetch: outbound.fetch })
  const { handlers, dispose } = createHandlers({ outbound, models, log, findPayloadShape })
  return {
    handlers,
    host: createPromptAgentHost({ models, log }),
    async dispose() {
      await dispose()
      await outbound.dispose()
    },
  }
}
