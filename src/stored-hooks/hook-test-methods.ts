import { type Caller, reaches } from '../access/caller.ts'
import { MASTER_TENANT } from '../access/tenant-tables.ts'
import { serverError } from '../engine/core/errors/server-errors.ts'
import { looseObject, numeric, wholeNumber, withAbout } from '../engine/core/schema/more-schemas.ts'
import { type SchemaType, schema } from '../engine/core/schema/schema.ts'
import type { HookDefinition } from '../engine/hook-definition.ts'
import { defineCall, type MethodCall } from '../methods/method.ts'
import { jsonObject, shortText } from '../methods/method-fields.ts'
import { hookParts } from '../methods/method-parts.ts'
import type { HookRow } from './hook-tables.ts'
import { mergedHookInput } from './saving/change-hook.ts'
import { completeHook } from './saving/complete-hook.ts'
import { dryRun } from './saving/dry-run.ts'
import { findHookByIdOrName } from './saving/find-hook.ts'
import { type HookInput, hookInput } from './saving/hook-input.ts'
import { type inForceParts, readEverywhere } from './saving/list-in-force.ts'

const sampleEvent = looseObject(
  schema.partial({
    toolName: schema.text(),
    toolInput: jsonObject(),
    rawInput: schema.text('The text of the user prompt.'),
    sessionId: schema.text(),
    agentId: schema.text(),
    depth: wholeNumber(),
  }),
  'Other keys are copied into the payload.',
)
/** An event in the format of the test panel and of older clients. */
export type SampleEvent = SchemaType<typeof sampleEvent>

const params = schema.object(
  schema.partial({
    config: withAbout(hookInput, 'The hook to try; with hookId, the fields to change in the stored hook.'),
    hookId: shortText(
      'Id or name of a stored hook, which runs with its secrets, or the id of one in a file.',
    ),
    sampleEvent,
  }),
)

const trace = schema.object({
  event: schema.text(),
  id: schema.text(),
  time: numeric(),
  subject: schema.text(),
  hooks: schema.list(schema.any()),
  merges: schema.list(schema.any()),
  durationMs: numeric(),
})

const term = schema.object({
  join: schema.optional(schema.choice(['and', 'or'], 'The operator before the term.')),
  source: schema.text(),
  holds: schema.choice([true, false, 'failed']),
  value: schema.optional(schema.text('What the event has where the term looks.')),
  problem: schema.optional(schema.text('Why the term cannot be evaluated.')),
})

const result = schema.object({
  decision: schema.choice(['allow', 'ask', 'block', 'error', 'timeout', 'skipped', 'late', 'aborted']),
  matched: schema.boolean('Whether the hook matches the event; if not, its handler did not run.'),
  durationMs: numeric(),
  stdout: schema.text(),
  stderr: schema.text(),
  reason: schema.text(),
  ...schema.partial({
    matcherMatched: schema.boolean(),
    celResult: schema.boolean(),
    terms: schema.list(term, 'The terms of `if_expr`, each with its own result.'),
    statusCode: numeric(),
    exitCode: numeric(),
    updatedInput: schema.any(),
    error: schema.text(),
    code: schema.text(),
    hint: schema.text(),
  }),
  trace,
})

export type DryRun = SchemaType<typeof result>

export const testHook = defineCall({
  name: 'hooks.test',
  about:
    'Runs a hook on a sample event. Nothing is recorded, counted or charged. ' +
    'Callers below admin can test stored hooks unchanged and any script; a command like `cat` needs admin.',
  role: 'operator',
  rest: { verb: 'POST', path: '/v1/hooks/test' },
  params,
  result: schema.object({ result }),
  needs: [...hookParts, 'hooksInForce', 'hookFolders', 'defaultTenant'],
  async run({ params, caller, parts }) {
    const stored = await storedHook({ params, caller, parts })
    const inFile = stored === undefined ? await hookOfFile({ params, caller, parts }) : undefined
    if (inFile !== undefined)
      return { result: await dryRun(inFile, params.sampleEvent ?? {}, { parts, tenant: caller.tenant }) }
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

type StoredHookCall = MethodCall<SchemaType<typeof params>, 'store'>

async function storedHook({ params, caller, parts }: StoredHookCall): Promise<HookRow | undefined> {
  if (params.hookId === undefined) return undefined
  const row = await findHookByIdOrName(parts.store, caller.tenant, params.hookId)
  if (row === undefined) return undefined
  // Every tenant can read a global hook, but it would send secrets of the master scope.
  if (row.tenant_id === MASTER_TENANT && !caller.master)
    throw serverError('auth.scope', 'global hooks need the master scope')
  return row
}

type HookOfFileCall = MethodCall<SchemaType<typeof params>, (typeof inForceParts)[number]>

/** The hook of a trusted file, as it is in force. Only its file can change it. */
async function hookOfFile({ params, caller, parts }: HookOfFileCall): Promise<HookDefinition | undefined> {
  const { hookId, config } = params
  if (hookId === undefined) return undefined
  const found = await readEverywhere(caller, parts)
  const isNamed = ({ id, name }: HookDefinition) => id === hookId || name === hookId
  const hook = found
    .flatMap(({ inForce: { snapshot } }) =>
      (snapshot?.hooks.list() ?? []).filter(({ id = '' }) => snapshot?.rows.has(id) === false),
    )
    .find(isNamed)
  if (hook === undefined) throw serverError('gateway.not_found', `hook not found: ${hookId}`)
  if (config !== undefined)
    throw serverError('gateway.request', 'a hook of a file is tested as it is', {
      hint: 'Change it in its file, or send it whole as `config` without a hookId.',
    })
  return hook
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
