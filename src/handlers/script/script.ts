import { Script } from 'node:vm'
import { isRecord } from '../../engine/core/check.ts'
import type { HookContext } from '../../engine/core/context.ts'
import { errorText, HookError } from '../../engine/core/error.ts'
import type { Handler } from '../../engine/core/handler.ts'
import { toWireEvent } from '../wire-event.ts'
import { SandboxPool } from './sandbox.ts'
import { readScriptAnswer } from './script-answer.ts'

const MAX_SOURCE_BYTES = 32_768

interface ScriptConfig {
  readonly source: string
}

/** JavaScript where shell commands are not allowed: no file, no network, no process, bounded memory and time. */
export function createScriptHandler(
  limits: { concurrency?: number; perTenant?: number } = {},
): Handler<ScriptConfig> & { dispose(): Promise<void> } {
  const pool = new SandboxPool(limits)
  return {
    type: 'script',
    timeoutCode: 'script.timeout',
    read: readConfig,
    async run({ config, payload, context }) {
      const event = JSON.stringify(scriptEvent(payload, context))
      const { signal, envelope, timeoutMs } = context
      const answer = await pool.run(
        { source: config.source, event, timeoutMs },
        envelope.tenant ?? '',
        signal,
      )
      context.report({
        stdout_len: answer.printed.length,
        ...(answer.printed ? { stdout: answer.printed } : {}),
      })
      if (answer.kind === 'answer') return readScriptAnswer(answer.json)
      if (answer.kind === 'timeout')
        throw new HookError('script.timeout', `the script ran longer than ${timeoutMs} ms`)
      throw new HookError('script.error', `the script failed: ${answer.text}`)
    },
    dispose: () => pool.dispose(),
  }
}

function readConfig(config: unknown): ScriptConfig {
  const source = isRecord(config) ? config.source : undefined
  if (typeof source !== 'string' || source.trim() === '') {
    throw new HookError('config.field', 'config.source must be JavaScript', { at: 'config.source' })
  }
  if (Buffer.byteLength(source) > MAX_SOURCE_BYTES) {
    throw new HookError('config.range', `config.source must be at most ${MAX_SOURCE_BYTES} bytes`, {
      at: 'config.source',
    })
  }
  try {
    // Only parsed, never run: a script that does not compile is refused when it is saved.
    new Script(`"use strict";${source}`, { filename: 'hook.js' })
  } catch (error) {
    const place = error instanceof Error ? /hook\.js:(\d+)/.exec(error.stack ?? '')?.[1] : undefined
    const where = place === undefined ? '' : ` at line ${place}`
    throw new HookError('script.compile', `the script does not compile${where}: ${errorText(error)}`, {
      at: `config.source${place === undefined ? '' : `:${place}`}`,
    })
  }
  return { source }
}

/** Our names and, for scripts written for GoClaw, its own. */
function scriptEvent(payload: unknown, context: HookContext): Record<string, unknown> {
  const wire = toWireEvent(payload, context)
  return {
    ...wire,
    hookEvent: wire.event,
    eventId: wire.event_id,
    sessionId: wire.session_id ?? '',
    tenantId: wire.tenant_id ?? '',
    agentId: wire.agent_id ?? '',
    toolName: wire.tool_name ?? '',
    toolInput: wire.tool_input ?? {},
    rawInput: wire.prompt ?? '',
  }
}
