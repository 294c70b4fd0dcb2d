import { serverError } from '../../engine/core/errors/server-errors.ts'
import { numeric } from '../../engine/core/schema/more-schemas.ts'
import { schema } from '../../engine/core/schema/schema.ts'
import { defineCall } from '../../methods/method.ts'
import { noParams } from '../../methods/method-fields.ts'

const verify = defineCall({
  name: 'audit.verify',
  about: 'Checks the hash chain over every recorded execution and names the first changed row.',
  role: 'admin',
  rest: { verb: 'POST', path: '/v1/audit/verify' },
  params: noParams,
  result: schema.object({
    ok: schema.boolean(),
    checked: numeric(),
    broken: schema.optional(schema.object({ chain: schema.text(), seq: numeric(), why: schema.text() })),
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
