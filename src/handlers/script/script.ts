import { Script } from 'node:vm'
import { errorText, HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { type SchemaType, schema } from '../../engine/core/schema/schema.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { configError, defineHandlerType } from '../handler-type.ts'
import { toWireEvent } from '../wire-event.ts'
import { SandboxPool } from './sandbox.ts'

const MAX_SOURCE_BYTES = 32_768

const scriptSchema = schema.object({
  source: schema.text('JavaScript that defines a function `handle(event)`.', {
    maxLength: MAX_SOURCE_BYTES,
  }),
  version: schema.optional(
    schema.integer(0, 1_000_000, 'The version of a built-in script. The gateway sets it.'),
  ),
})
type ScriptSettings = SchemaType<typeof scriptSchema>

export const scriptHandler = defineHandlerType({
  type: 'script',
  about: 'Runs JavaScript in a sandbox without files, network or processes.',
  schema: scriptSchema,
  create() {
    const pool = new SandboxPool()
    return {
      timeoutCode: 'script.timeout',
      read: checkSource,
      async run({ config, payload, context }) {
        const { signal, envelope, timeoutMs } = context
        const event = JSON.stringify(toWireEvent(payload, context))
        const { source } = config
        const answer = await pool.run({ source, event, timeoutMs }, envelope.tenant ?? '', signal)
        const { printed } = answer
        context.report({ stdout_len: printed.length, ...(printed === '' ? {} : { stdout: printed }) })
        if (answer.kind === 'answer') return readScriptAnswer(answer.json)
        if (answer.kind === 'timeout')
          throw handlerError('script.timeout', `the script ran longer than ${timeoutMs} ms`)
        throw handlerError('script.error', `the script failed: ${answer.text}`)
      },
      dispose: () => pool.dispose(),
    }
  },
})

function checkSource(settings: ScriptSettings): ScriptSettings {
  const { source } = settings
  if (source.trim() === '') throw configError('source', 'config.source must not be empty')
  if (Buffer.byteLength(source) > MAX_SOURCE_BYTES) {
    throw new HookError('config.range', `config.source must have at most ${MAX_SOURCE_BYTES} bytes`, {
      at: 'config.source',
    })
  }
  try {
    // Parsed but never run: a script with a syntax error is refused when the hook is registered.
    new Script(`"use strict";${source}`, { filename: 'hook.js' })
  } catch (error) {
    const line = error instanceof Error ? /hook\.js:(\d+)/.exec(error.stack ?? '')?.[1] : undefined
    const where = line === undefined ? '' : ` at line ${line}`
    throw handlerError('script.compile', `the script does not compile${where}: ${errorText(error)}`, {
      at: `config.source${line === undefined ? '' : `:${line}`}`,
    })
  }
  return settings
}

/** `{decision, reason?, message?, grant?, updatedInput?, updatedToolOutput?, additionalContext?}`. Anything else throws. */
function readScriptAnswer(json: string): unknown {
  const answer: unknown = JSON.parse(json)
  if (!isRecord(answer)) throw answerError('returned something that is not an object')
  const { decision, reason, message, grant, updatedInput, updatedToolOutput, additionalContext } = answer
  // An event can change either its input or its output.
  const patch = updatedToolOutput ?? updatedInput
  const texts = definedFields({ reason: readText(reason, 'reason'), message: readText(message, 'message') })
  switch (decision) {
    case 'allow':
      return {
        kind: 'allow',
        ...texts,
        ...definedFields({ grant, input: patch, context: readText(additionalContext, 'additionalContext') }),
      }
    case 'block':
      return { kind: 'block', reason: 'blocked by a script', ...texts }
    case 'ask':
      return { kind: 'ask', reason: 'a script asks', ...texts }
    case 'defer':
      // A script has no later stage to defer to, so the strictest reading applies.
      return { kind: 'block', reason: 'a script deferred the decision', ...texts }
    default:
      throw answerError('returned no decision: allow, block or ask')
  }
}

function readText(value: unknown, field: string): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value
  throw answerError(`returned a ${field} that is not text`)
}

function answerError(what: string): HookError {
  return new HookError('handler.result', `the script ${what}`)
}
