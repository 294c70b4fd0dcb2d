import { expect, test } from 'vitest'
import { HookError } from '../../../engine/core/errors/error.ts'
import { type ErrorCode, errorTable } from '../../../engine/core/errors/error-table.ts'
import { handlerError, handlerErrors } from '../../../engine/core/errors/handler-errors.ts'
import { type ServerCode, serverError, serverErrors } from '../../../engine/core/errors/server-errors.ts'
import { tooSoon } from '../../../engine/core/time/retry-after.ts'
import { errorReply } from './error-reply.ts'

const log = () => {}

test('no code that a caller can cause is answered as our own failure', () => {
  const own = new Set(['config.untrusted_owner', 'config.two_files'])
  const codes = (Object.keys({ ...errorTable, ...handlerErrors }) as ErrorCode[]).filter((code) =>
    /^(input|config|match)\./.test(code),
  )
  const failures = codes.filter(
    (code) => errorReply(new HookError(code, 'x', { hint: '' }), log).status >= 500,
  )
  expect(failures.filter((code) => !own.has(code))).toEqual([])
})

test.each<[ServerCode, number, string]>([
  ['auth.token', 401, 'UNAUTHORIZED'],
  ['auth.scope', 403, 'UNAUTHORIZED'],
  ['gateway.request', 400, 'INVALID_REQUEST'],
  ['gateway.not_found', 404, 'NOT_FOUND'],
  ['gateway.builtin', 409, 'FAILED_PRECONDITION'],
  ['store.taken', 409, 'ALREADY_EXISTS'],
  ['store.unavailable', 503, 'UNAVAILABLE'],
  ['audit.broken', 500, 'INTERNAL'],
])('GC-111 GC-113 %s is %i %s', (code, status, seed) => {
  const answer = errorReply(serverError(code, 'what happened', { at: 'here' }), log)
  expect(answer).toMatchObject({
    status,
    body: { code: seed, message: 'what happened', details: { code, hint: serverErrors[code], at: 'here' } },
  })
})

test('a refusal that ends by itself says when', () => {
  expect(errorReply(tooSoon('gateway.busy', 'x', 250), log).body).toMatchObject({
    retryable: true,
    retryAfterMs: 250,
  })
})

test('a code without a row is our own failure, with its code', () => {
  expect(errorReply(handlerError('secret.unreadable', 'x'), log)).toMatchObject({
    status: 500,
    body: { code: 'INTERNAL', details: { code: 'secret.unreadable' } },
  })
})
