import type { Handler, Host } from '../engine/core/handler.ts'
import type { Log } from '../engine/core/sink.ts'
import { createAgentHandler } from '../handlers/agent/agent.ts'
import { createAgentHost } from '../handlers/agent/agent-host.ts'
import { createCommandHandler } from '../handlers/command/command.ts'
import { createHttpHandler } from '../handlers/http/http.ts'
import { createModels } from '../handlers/model/models.ts'
import { createPromptHandler } from '../handlers/prompt/prompt.ts'
import { createScriptHandler } from '../handlers/script/script.ts'
import { createOutbound } from '../safe/outbound/outbound.ts'
import { localModels, outboundAllowed } from './environment.ts'

interface LocalParts {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly log: Log
}

/** Every handler a person's own machine has, wired to this process. */
export function localHandlers({ env, log }: LocalParts): {
  handlers: readonly Handler[]
  host: Host
  dispose(): Promise<void>
} {
  const outbound = createOutbound({ allow: outboundAllowed(env), log })
  const models = createModels({ ...localModels(env), fetch: outbound.fetch })
  const command = createCommandHandler()
  const http = createHttpHandler({ outbound })
  const script = createScriptHandler()
  const prompt = createPromptHandler({ models, log })
  const agent = createAgentHandler({ models, log })
  return {
    handlers: [command, http, prompt, agent, script],
    host: createAgentHost({ models, log }),
    async dispose() {
      await Promise.all([command.dispose(), http.dispose(), script.dispose(), outbound.dispose()])
    },
  }
}
