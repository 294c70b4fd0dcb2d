import type { IncomingMessage } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import type { Admission } from '../../../access/admission.ts'
import { reaches } from '../../../access/caller.ts'
import { createFailureLimit, sourceNetwork } from '../../../access/failure-limit.ts'
import { ANSWER_PATH, findAnswerLink, wrongLink } from '../../../approvals/approval-links.ts'
import { isOwnCall, ownCall } from '../../../approvals/approvals.ts'
import type { ApprovalLink, ApprovalRow } from '../../../approvals/stored/approval-tables.ts'
import { type HookError, isHookError } from '../../../engine/core/errors/error.ts'
import { serverError } from '../../../engine/core/errors/server-errors.ts'
import type { Log } from '../../../engine/core/records/sink.ts'
import { tooSoon } from '../../../engine/core/time/retry-after.ts'
import { definedFields } from '../../../engine/core/values/defined-fields.ts'
import type { MethodParts } from '../../../methods/method-parts.ts'
import { errorReply } from '../http/error-reply.ts'
import { readBody } from '../http/http-request.ts'
import {
  type AnswerPage,
  answeredPage,
  answerResponse,
  confirmPage,
  refusedPage,
  signInPage,
} from './answer-page.ts'

type AnswerParts = Pick<MethodParts, 'store' | 'approvals' | 'settings' | 'clock'>

type AnswerContext = Context<{ Bindings: HttpBindings }>

interface OpenLink {
  readonly link: ApprovalLink
  readonly approval: ApprovalRow
  /** Who answers: the recipient of the link, or the person who is signed in. */
  readonly by: string
  readonly member: string | undefined
}

const MAX_FORM_BYTES = 16_384

/**
 * The page of a link in a message. A GET only shows the question: mail programs, chats and browsers open links by
 * themselves. The form of the page answers, once. Long because its steps share one limit of failures and one way to refuse.
 */
export function answerRoutes(options: {
  readonly parts: AnswerParts
  readonly admission: Admission
  readonly log: Log
}) {
  const { parts, log } = options
  const app = new Hono<{ Bindings: HttpBindings }>()
  const failures = createFailureLimit(parts.clock)

  /** Finds the link, and refuses a source that guesses. */
  const genuineLink = async (c: AnswerContext): Promise<{ link: ApprovalLink; approval: ApprovalRow }> => {
    const source = sourceNetwork(c.env.incoming.socket.remoteAddress)
    const wait = failures.wait(source)
    if (wait > 0) throw tooSoon('auth.blocked', 'too many links that are not valid', wait)
    const { link, isGenuine } = await findAnswerLink(parts.store, c.req.param('link') ?? '')
    const approval = link && (await parts.store.findApproval(link.tenant_id, link.approval_id))
    if (link !== undefined && approval !== undefined && isGenuine) return { link, approval }
    failures.count(source)
    log('approval.link_refused', { source })
    if (approval !== undefined) {
      const attempt = { by: 'a link that is not valid', from: addressOf(c.env.incoming) }
      await parts.approvals.recordRefusal(approval, attempt)
    }
    throw wrongLink()
  }

  const refuse = async (
    c: AnswerContext,
    approval: ApprovalRow,
    { by, error }: { readonly by: string; readonly error: HookError },
  ): Promise<never> => {
    const attempt = { by, from: addressOf(c.env.incoming), message: error.message }
    if (c.req.method === 'POST') await parts.approvals.recordRefusal(approval, attempt)
    throw error
  }

  const refuseOwn = async (
    c: AnswerContext,
    approval: ApprovalRow,
    { by, ...who }: { by: string; id: string | undefined; member: string | undefined },
  ): Promise<void> => {
    if (!isOwnCall(approval, definedFields(who)) || parts.settings.of(approval.tenant_id).own_approvals)
      return
    await refuse(c, approval, { by, error: ownCall() })
  }

  const open = async (c: AnswerContext): Promise<OpenLink> => {
    const { link, approval } = await genuineLink(c)
    if (!needsSignIn(approval, parts)) {
      const member = link.member_id ?? undefined
      await refuseOwn(c, approval, { by: link.recipient, id: undefined, member })
      return { link, approval, by: link.recipient, member }
    }
    const { caller } = await options.admission.admit(c.env.incoming)
    const isOwnTenant = caller.tenant === approval.tenant_id || caller.master
    if (!isOwnTenant || !reaches(caller.role, 'approver'))
      return refuse(c, approval, { by: caller.name, error: notApprover() })
    const { name: by, id, member } = caller
    await refuseOwn(c, approval, { by, id, member })
    return { link, approval, by, member }
  }

  const show = async (c: AnswerContext): Promise<AnswerPage> => {
    const { link, approval, by } = await open(c)
    const problem = whyClosed(link, approval)
    if (problem !== undefined) return refusedPage(410, problem)
    const { tenant_id, input_hash } = approval
    const { [input_hash]: identical = 1 } = await parts.store.countIdenticalApprovals(tenant_id, [input_hash])
    return confirmPage(approval, { ...link, recipient: by }, identical)
  }

  const answer = async (c: AnswerContext): Promise<AnswerPage> => {
    const { link, by, member } = await open(c)
    const { verdict, tenant_id, approval_id, link_id, route } = link
    const message = verdict === 'deny' ? await messageOf(c) : ''
    const answered = await parts.approvals.answer(tenant_id, approval_id, {
      ...{ verdict, by, link_id, from: `${addressOf(c.env.incoming)}, link of route ${route}` },
      ...definedFields({ member, message: message === '' ? undefined : message }),
    })
    return answeredPage(answered, verdict)
  }

  const respond = (make: (c: AnswerContext) => Promise<AnswerPage>) => async (c: AnswerContext) => {
    try {
      return answerResponse(await make(c))
    } catch (thrown) {
      return answerResponse(failurePage(thrown, log))
    }
  }
  app.get(`${ANSWER_PATH}:link`, respond(show))
  app.post(`${ANSWER_PATH}:link`, respond(answer))
  return app
}

function notApprover(): HookError {
  return serverError('auth.scope', 'answering needs the role approver')
}

/** Two approvers must be two people, and only a signed-in person is known to be another. */
function needsSignIn({ tenant_id, approvers_needed }: ApprovalRow, { settings }: AnswerParts): boolean {
  return approvers_needed > 1 || settings.of(tenant_id).approval_links === 'sign_in'
}

/** A link has the deadline of its question, which the store ends. */
function whyClosed(link: ApprovalLink, approval: ApprovalRow): string | undefined {
  const { status, decided_by, input_hash, edited } = approval
  if (status !== 'pending')
    return `The question is closed: ${status}${decided_by === null ? '' : ` by ${decided_by}`}.`
  if (link.used_at !== null) return 'This link was used.'
  if (link.verdict === 'approve' && edited !== null)
    return 'The arguments were edited since this link was sent. Answer in the web app.'
  if (link.input_hash !== input_hash) return 'The arguments have changed since this link was sent.'
  return undefined
}

async function messageOf(c: AnswerContext): Promise<string> {
  const { incoming, outgoing } = c.env
  const body = await new Promise<Buffer | HookError>((resolve) =>
    readBody(incoming, outgoing, resolve, MAX_FORM_BYTES),
  )
  if (isHookError(body)) throw body
  return (new URLSearchParams(body.toString()).get('message') ?? '').trim().slice(0, 2_000)
}

function addressOf({ socket }: IncomingMessage): string {
  return socket.remoteAddress ?? 'unknown'
}

function failurePage(thrown: unknown, log: Log): AnswerPage {
  const { status, body } = errorReply(thrown, log)
  if (isHookError(thrown) && (thrown.code === 'auth.token' || thrown.code === 'auth.origin'))
    return signInPage()
  return refusedPage(
    status,
    `${body.message.charAt(0).toUpperCase()}${body.message.slice(1)}.`,
    body.details.code,
  )
}
