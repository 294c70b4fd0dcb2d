import { z } from 'zod'
import { hookInput } from '../hooks/hook-input.ts'
import { MAX_PREVIEWED, previewHook } from '../hooks/preview-hook.ts'
import { defineCall } from './method.ts'
import { readonlyList } from './method-fields.ts'

export const previewMethod = defineCall({
  name: 'hooks.preview',
  about:
    'Tries the conditions of a hook on the latest events. No handler runs, and nothing is saved or recorded.',
  role: 'operator',
  rest: { verb: 'POST', path: '/v1/hooks/preview' },
  params: z.strictObject({
    hook: hookInput.describe('A hook as for hooks.create; only its event and conditions count.'),
    limit: z.int().min(1).max(MAX_PREVIEWED).describe(`${MAX_PREVIEWED} if omitted.`).exactOptional(),
  }),
  result: z.object({
    checked: z.number().describe('Events that could be tried.'),
    matched: z.number(),
    changes: z
      .object({ block: z.number(), ask: z.number(), rewrite: z.number() })
      .describe('How many of the matched events were blocked, asked about or rewritten already.'),
    rows: readonlyList(
      z.object({
        event_id: z.string(),
        created_at: z.number(),
        what: z.string().nullable(),
        kind: z.enum(['allow', 'ask', 'block']),
        would: z.enum(['match', 'no match']),
        why: z.string(),
      }),
    ),
  }),
  needs: ['store', 'clock', 'shell'],
  run: ({ params: { hook, limit = MAX_PREVIEWED }, caller, parts }) =>
    previewHook(hook, limit, { tenant: caller.tenant, ...parts }),
})
