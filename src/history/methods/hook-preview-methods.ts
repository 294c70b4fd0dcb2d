import { decisionKinds } from '../../engine/core/decision.ts'
import { nullable, numeric, withAbout } from '../../engine/core/schema/more-schemas.ts'
import { type SchemaType, schema } from '../../engine/core/schema/schema.ts'
import { defineCall } from '../../methods/method.ts'
import { hookInput } from '../../stored-hooks/saving/hook-input.ts'
import { MAX_PREVIEWED, previewHook } from '../preview-hook.ts'

const preview = schema.object({
  checked: numeric('Events that could be tried.'),
  matched: numeric(),
  changes: schema.object(
    { block: numeric(), ask: numeric(), rewrite: numeric() },
    'How many of the matched events were blocked, asked about or rewritten already.',
  ),
  rows: schema.list(
    schema.object({
      event_id: schema.text(),
      created_at: numeric(),
      what: nullable(schema.text()),
      kind: schema.choice(decisionKinds),
      would: schema.choice(['match', 'no match']),
      why: schema.text(),
    }),
  ),
})
export type HookPreview = SchemaType<typeof preview>

export const previewMethod = defineCall({
  name: 'hooks.preview',
  about:
    'Tries the conditions of a hook on the latest events. No handler runs, and nothing is saved or recorded.',
  role: 'operator',
  rest: { verb: 'POST', path: '/v1/hooks/preview' },
  params: schema.object({
    hook: withAbout(hookInput, 'A hook as for hooks.create; only its event and conditions count.'),
    limit: schema.optional(schema.integer(1, MAX_PREVIEWED, `${MAX_PREVIEWED} if omitted.`)),
  }),
  result: preview,
  needs: ['store', 'clock', 'shell'],
  run: ({ params: { hook, limit = MAX_PREVIEWED }, caller, parts }) =>
    previewHook(hook, limit, { tenant: caller.tenant, ...parts }),
})
