import { z } from 'zod'
import { serverError } from '../../engine/core/server-errors.ts'
import type { HookRow } from '../../store/stores/hook-store.ts'
import { MASTER_TENANT } from '../../store/stores/tenant-store.ts'
import { type Caller, reaches } from '../auth/caller.ts'
import { inputOf } from '../hooks/change.ts'
import { completeHook } from '../hooks/complete.ts'
import { dryRun } from '../hooks/dry-run.ts'
import { type HookInput, hookInput } from '../hooks/hook-input.ts'
import { listOf, text } from './fields.ts'
import { type MethodCall, method } from './method.ts'

const params = z.strictObject({
  config: hookInput.describe('The hook to try; over the stored one where hookId is given.').exactOptional(),
  hookId: text.describe('A stored hook, with its secrets.').exactOptional(),
  sampleEvent: z
    .looseObject({
      toolName: z.string().exactOptional(),
      toolInput: z.record(z.string(), z.unknown()).exactOptional(),
      rawInput: z.string().describe('What the user wrote.').exactOptional(),
      sessionId: z.string().exactOptional(),
      agentId: z.string().exactOptional(),
      depth: z.int().exactOptional(),
    })
    .describe('Further keys go into the payload as they are.')
    .exactOptional(),
})

const trace = z.object({
  event: z.string(),
  id: z.string(),
  time: z.number(),
  subject: z.string(),
  hooks: listOf(z.unknown()),
  merges: listOf(z.unknown()),
  durationMs: z.number(),
})

const result = z.object({
  decision: z.enum(['allow', 'ask', 'block', 'error', 'timeout', 'skipped', 'late', 'aborted']),
  matched: z
    .boolean()
    .describe('Whether the hook is for this event at all; if not, its handler did not run.'),
  matcherMatched: z.boolean().exactOptional(),
  celResult: z.boolean().exactOptional(),
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

export const testHook = method({
  name: 'hooks.test',
  about:
    'Tries a hook on a sample event. Nothing is recorded, counted or charged. ' +
    'Below admin only a stored hook as it is, or any script: a command like `cat` needs admin.',
  role: 'operator',
  rest: { verb: 'POST', path: '/v1/hooks/test' },
  params,
  result: z.object({ result }),
  async run({ params, caller, parts }) {
    const stored = await storedHook({ params, caller, parts })
    const given = stored === undefined ? params.config : inputOf(stored, params.config ?? {})
    if (given === undefined) throw serverError('gateway.request', 'config is required')
    if (params.config !== undefined) refuseGiven(given, caller)
    if (stored !== undefined && given.scope !== stored.scope)
      throw serverError('gateway.request', 'a stored hook is tried in its own scope')
    const id = stored?.id ?? 'hooks.test'
    const made = completeHook(given, { id, caller, parts, ...(stored === undefined ? {} : { stored }) })
    const { tenant_id: _, ...hook } = made
    return { result: await dryRun(hook, params.sampleEvent ?? {}, { parts, tenant: caller.tenant }) }
  },
})

async function storedHook(call: MethodCall<z.output<typeof params>>): Promise<HookRow | undefined> {
  const { params, caller, parts } = call
  if (params.hookId === undefined) return undefined
  const row = await parts.store.findHook(caller.tenant, params.hookId)
  if (row === undefined) throw serverError('gateway.not_found', `hook not found: ${params.hookId}`)
  // Everybody sees it, but the secrets it sends are not theirs.
  if (row.tenant_id === MASTER_TENANT && !caller.master)
    throw serverError('auth.scope', 'global hooks need the master scope')
  return row
}

/**
 * Who may not change hooks could else run anything as the gateway, or have a stored secret sent to a place of their own.
 * Scripts reach nothing outside of their sandbox.
 */
function refuseGiven({ handler_type }: HookInput, { role }: Caller): void {
  if (reaches(role, 'admin') || handler_type === 'script') return
  throw serverError('auth.scope', 'hooks other than scripts are tried below admin only as they are stored', {
    hint: 'Send the hookId without a config.',
  })
}
