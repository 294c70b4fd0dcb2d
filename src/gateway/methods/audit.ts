import { z } from 'zod'
import { serverError } from '../../engine/core/server-errors.ts'
import { noParams } from './fields.ts'
import { method } from './method.ts'

const verify = method({
  name: 'audit.verify',
  about: 'Walks the chain of hashes over every recorded execution and names the first row that was changed.',
  role: 'admin',
  rest: { verb: 'POST', path: '/v1/audit/verify' },
  params: noParams,
  result: z.object({
    ok: z.boolean(),
    checked: z.number(),
    broken: z.object({ chain: z.string(), seq: z.number(), why: z.string() }).exactOptional(),
  }),
  async run({ caller, parts }) {
    if (!caller.master) throw serverError('auth.scope', 'the audit is verified from the master scope')
    const verdict = await parts.store.verifyAudit()
    return { ok: verdict.broken === undefined, ...verdict }
  },
})

export const auditMethods = [verify] as const
