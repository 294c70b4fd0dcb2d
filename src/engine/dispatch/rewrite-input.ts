import { isDeepStrictEqual } from 'node:util'
import { errorText } from '../core/errors/error.ts'
import { isRecord } from '../core/schema/check.ts'
import { freezeDeep } from '../core/values/freeze.ts'
import { plainCopy } from '../core/values/plain-copy.ts'
import type { CompiledHook } from './compiled-hook.ts'
import { builderOf } from './decision-builder.ts'
import type { Dispatch } from './dispatch.ts'
import { recordExecution } from './execution-log.ts'

/** What became of a rewrite: applied, refused with the chain at its end, or invalid for the given reason. */
export type RewriteOutcome = 'applied' | 'blocked' | { readonly invalid: string }

/** Replaces the input of the event. Later hooks see the new one. */
export function rewriteInput(dispatch: Dispatch, hook: CompiledHook, input: unknown): RewriteOutcome {
  try {
    // A plain copy: a getter could show a locked hook one value and the caller another.
    return replaceInput(dispatch, hook, plainCopy(input))
  } catch (thrown) {
    return { invalid: `rewrote the input to ${errorText(thrown)}` }
  }
}

function replaceInput(dispatch: Dispatch, hook: CompiledHook, input: unknown): RewriteOutcome {
  const { row } = dispatch.resolved.eventHooks
  const key = row.rewrites ?? ''
  const payload = isRecord(dispatch.payload) ? dispatch.payload : {}
  const before = payload[key]
  if (isRecord(input) && Object.keys(input).length === 0) return 'applied'
  if (isDeepStrictEqual(before, input)) return 'applied'
  if (dispatch.extras?.secondPass) return blockUnstableRewrite(dispatch, hook)
  const next = { ...payload, [key]: input }
  const problem = row.payload(next)
  if (problem !== undefined)
    return { invalid: `rewrote ${problem.path} to something that is not ${problem.expected}` }
  freezeDeep(next)
  const extras = dispatch.withExtras()
  if (!extras.rewritten) extras.original = dispatch.payload
  extras.rewritten = true
  dispatch.payload = next
  const builder = builderOf(dispatch)
  builder.steps.push({ hook: hook.id, before, after: input })
  // An earlier grant was for another input.
  builder.grant = false
  builder.grantedBy = []
  return 'applied'
}

/** In the second pass the input is final: a hook that changes it again blocks. */
function blockUnstableRewrite(dispatch: Dispatch, hook: CompiledHook): RewriteOutcome {
  const reason = `${hook.id} changed an input that had already been passed`
  recordExecution(dispatch, hook, { decision: 'block', code: 'engine.unstable_rewrite', reason })
  builderOf(dispatch).decide({ kind: 'block', reason }, hook, 'engine.unstable_rewrite')
  return 'blocked'
}

/** After a rewrite, hooks that must see the final input and have not seen it run again. */
export function needsSecondPass(dispatch: Dispatch): boolean {
  const { builder, extras, resolved } = dispatch
  if (builder === null || builder.steps.length === 0 || extras?.secondPass || resolved.role !== 'decide')
    return false
  return builder.kind !== 'block' && resolved.hooks.some((hook) => mustSeeInput(dispatch, hook))
}

export function startSecondPass(dispatch: Dispatch): void {
  dispatch.withExtras().secondPass = true
  dispatch.index = 0
}

/** Whether a hook must still see the input as it is now: it saw an earlier one, or none. */
export function mustSeeInput(dispatch: Dispatch, hook: CompiledHook): boolean {
  if (!hook.seesFinalInput) return false
  const passed = dispatch.extras?.passedInputs.get(hook)
  return passed !== dispatch.payload && !isDeepStrictEqual(passed, dispatch.payload)
}
