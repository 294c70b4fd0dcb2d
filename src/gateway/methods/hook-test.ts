import { z } from 'zod'
import { serverError } from '../../engine/core/server-errors.ts'
import type { HookRow } from '../../store/stores/hook-store.ts'
import { MASTER_TENANT } from '../../store/stores/tenant-store.ts'
import { type Caller, reaches } from '../auth/caller.ts'
import { mergedHookInput } from '../hooks/change-hook.ts'
import { completeHook } from '../hooks/complete-hook.ts'
import { dryRun } from '../hooks/dry-run.ts'
import { findHookByIdOrName } from '../hooks/find-hook.ts'
import { type HookInput, hookInput } from '../hooks/hook-input.ts'
import { hookParts } from '../parts.ts'
import { defineCall, type MethodCall } from './method.ts'
import { readonlyList, shortText } from './method-fields.ts'

const params = z.strictObject({
  config: hookInput
    .describe('The hook to try; with hookId, the fields to change in the stored hook.')
    .exactOptional(),
  hookId: shortText.describe('Id or name of a stored hook; it runs with its secrets.').exactOptional(),
  sampleEvent: z
    .looseObject({
      toolName: z.string().exactOptional(),
      toolInput: z.record(z.string(), z.unknown()).exactOptional(),
      rawInput: z.string().describe('The text of the user prompt.').exactOptional(),
      sessionId: z.string().exactOptional(),
      agentId: z.string().exactOptional(),
      depth: z.int().exactOptional(),
    })
    .describe('Other keys are copied into the payload.')
    .exactOptional(),
})

const trace = z.object({
  event: z.string(),
  id: z.string(),
  time: z.number(),
  subject: z.string(),
  hooks: readonlyList(z.unknown()),
  merges: readonlyList(z.unknown()),
  durationMs: z.number(),
})

const term = z.object({
  join: z.enum(['and', 'or']).describe('The operator before the term.').exactOptional(),
  source: z.string(),
  holds: z.union([z.boolean(), z.literal('failed')]),
  value: z.string().describe('What the event has where the term looks.').exactOptional(),
  problem: z.string().describe('Why the term cannot be evaluated.').exactOptional(),
})

const result = z.object({
  decision: z.enum(['allow', 'ask', 'block', 'error', 'timeout', 'skipped', 'late', 'aborted']),
  matched: z.boolean().describe('Whether the hook matches the event; if not, its handler did not run.'),
  matcherMatched: z.boolean().exactOptional(),
  celResult: z.boolean().exactOptional(),
  terms: readonlyList(term).describe('The terms of `if_expr`, each with its own result.').exactOptional(),
  durationMs: z.number(),
  stdout: z.string(),
  stderr: z.string(),
  statusCode: z.number().exactOptional(),
  exitCode: z.number().exactOptional(),
  reason: z.string(),
  updatedInput: z.unknown().exactOptional(),
  error: z.string().exactOptional(),
  code: z.string().exactOptional(),
  hint: z.string().exactOptional(),
  trace,
})

export const testHook = defineCall({
  name: 'hooks.test',
  about:
    'Runs a hook on a sample event. Nothing is recorded, counted or charged. ' +
    'Callers below admin can test stored hooks unchanged and any script; a command like `cat` needs admin.',
  role: 'operator',
  rest: { verb: 'POST', path: '/v1/hooks/test' },
  params,
  result: z.object({ result }),
  needs: hookParts,
  async run({ params, caller, parts }) {
    const stored = await storedHook({ params, caller, parts })
    const given = stored === undefined ? params.config : mergedHookInput(stored, params.config ?? {})
    if (given === undefined) throw serverError('gateway.request', 'config is required')
    if (params.config !== undefined) assertMayRun(given, caller)
    if (stored !== undefined && given.scope !== stored.scope)
      throw serverError('gateway.request', 'a stored hook is tested in its own scope')
    const id = stored?.id ?? 'hooks.test'
    const made = completeHook(given, { id, caller, parts, ...(stored === undefined ? {} : { stored }) })
    const { tenant_id: _, ...hook } = made
    return { result: await dryRun(hook, params.sampleEvent ?? {}, { parts, tenant: caller.tenant }) }
  },
})

type StoredHookCall = MethodCall<z.output<typeof params>, 'store'>

async function storedHook({ params, caller, parts }: StoredHookCall): Promise<HookRow | undefined> {
  if (params.hookId === undefined) return undefined
  const row = await findHookByIdOrName(parts.store, caller.tenant, params.hookId)
  if (row === undefined) throw serverError('gateway.not_found', `hook not found: ${params.hookId}`)
  // Every tenant can read a global hook, but it would send secrets of the master scope.
  if (row.tenant_id === MASTER_TENANT && !caller.master)
    throw serverError('auth.scope', 'global hooks need the master scope')
  return row
}

/**
 * A caller without the right to save hooks must not run commands as the gateway, or have a stored secret sent to an address
 * of their choice. Scripts are safe: they run in a sandbox.
 */
function assertMayRun({ handler_type }: HookInput, { role }: Caller): void {
  if (reaches(role, 'admin') || handler_type === 'script') return
  throw serverError(
    'auth.scope',
    'callers below admin can test only scripts and stored hooks without changes',
    {
      hint: 'Send the hookId without a config.',
    },
  )
}
