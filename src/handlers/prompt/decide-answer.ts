import { isRecord } from '../../engine/core/check.ts'
import type { Verdict } from '../../engine/core/decision.ts'
import { HookError } from '../../engine/core/error.ts'
import type { BaseHook } from '../../engine/core/hook.ts'
import { refusal } from '../block-answer.ts'
import type { Answered } from '../model/ask-model.ts'
import { decideTool } from './question.ts'

/** A parsed decision; `injected` when the evaluator saw an attempt to steer it. */
export interface Decided {
  readonly result: Verdict<Readonly<Record<string, unknown>>>
  readonly injected: boolean
}

/** The events whose arguments a hook may replace. */
const rewritable: readonly string[] = ['pre_tool_use', 'permission_request']

type Fields = Readonly<Record<string, unknown>>

/** Only the first call is read. Whatever is not clearly a decision is none. */
export function readDecide(answered: Answered, event: string, hook: BaseHook): Decided {
  const { call, text } = answered
  if (call === undefined) throw unreadable(text === '' ? 'an empty answer' : 'text instead of a decision')
  if (call.name !== decideTool.name) throw unreadable('a call of another tool')
  if (call.invalid || !isRecord(call.input)) throw unreadable('arguments that cannot be read')
  const fields = call.input
  const { decision } = fields
  if (decision !== 'allow' && decision !== 'block') throw unreadable('a decision that is none')
  const reason = optional(fields, 'reason', 'string')
  const context = optional(fields, 'additional_context', 'string')
  const injected = optional(fields, 'injection_detected', 'boolean') === true
  const goesOn = optional(fields, 'continue', 'boolean') !== false
  const patch = patchOf(fields, event)
  if (injected) {
    const words = { reason: `the arguments try to steer the evaluator: ${reason ?? 'injection detected'}` }
    return { result: refusal('block', words, hook), injected }
  }
  if (decision === 'block' || !goesOn)
    return { result: refusal('block', reason === undefined ? {} : { reason }, hook), injected }
  return {
    injected,
    result: {
      kind: 'allow',
      ...(reason ? { reason } : {}),
      ...(context ? { context } : {}),
      ...(patch === undefined ? {} : { patch }),
    },
  }
}

interface Kinds {
  string: string
  boolean: boolean
}

/** Missing and null are nothing; another type is an argument nobody can read. */
function optional<K extends keyof Kinds>(fields: Fields, name: string, kind: K): Kinds[K] | undefined
function optional(fields: Fields, name: string, kind: string): unknown {
  const value = fields[name] ?? undefined
  // The type says less than the name: "true" as text must not pass for no.
  if (value === undefined || typeof value === kind) return value
  throw unreadable(`a ${name} that is no ${kind}`)
}

function patchOf({ updated_input: input }: Fields, event: string): Fields | undefined {
  if (input === undefined || input === null) return undefined
  if (!isRecord(input)) throw unreadable('an updated_input that is no object')
  if (Object.keys(input).length === 0) return undefined
  // An allow that depends on other arguments is none where they cannot be replaced.
  if (!rewritable.includes(event)) throw unreadable('new arguments where none can be set')
  return input
}

function unreadable(what: string): HookError {
  return new HookError('prompt.parse', `the evaluator answered with ${what}`)
}
