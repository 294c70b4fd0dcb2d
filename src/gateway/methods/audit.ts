import { z } from 'zod'
import { serverError } from '../../engine/core/server-errors.ts'
import { defineCall } from './method.ts'
import { noParams } from './method-fields.ts'

const verify = defineCall({
  name: 'audit.verify',
  about: 'Checks the hash chain over every recorded execution and names the first changed row.',
  role: 'admin',
  rest: { verb: 'POST', path: '/v1/audit/verify' },
  params: noParams,
  result: z.object({
    ok: z.boolean(),
    checked: z.number(),
    broken: z.object({ chain: z.string(), seq: z.number(), why: z.string() }).exactOptional(),
  }),
  needs: ['store'],
  async run({ caller, parts }) {
    if (!caller.master)
      throw serverError('auth.scope', 'verifying the audit log needs a token of the master scope')
    const verdict = await parts.store.verifyAudit()
    return { ok: verdict.broken === undefined, ...verdict }
  },
})

export const auditMethods = [verify] as const
