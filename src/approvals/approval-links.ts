import { createHash, randomBytes } from 'node:crypto'
import { serverError } from '../engine/core/errors/server-errors.ts'
import { sameText } from '../safe/secrets/token.ts'
import type { Store } from '../store/store.ts'
import type { ApprovalLink, ApprovalRow } from './stored/approval-tables.ts'

/** Where the page of a link is. The link follows. */
export const ANSWER_PATH = '/answer/'

const LINK = /^([0-9a-f]{24})\.([\w-]{43})$/

/** The paths of the two links in one message. */
export interface AnswerLinks {
  readonly approve: string
  readonly deny: string
}

/**
 * Makes two links for one recipient. Each is a random secret. The store gets only a digest, which also covers the approval,
 * the verdict, the arguments, the recipient and the time: a link is good for nothing else.
 */
export async function createAnswerLinks(
  store: Pick<Store, 'createApprovalLinks'>,
  approval: ApprovalRow,
  to: Pick<ApprovalLink, 'route' | 'recipient' | 'member_id'>,
): Promise<AnswerLinks> {
  const make = (verdict: ApprovalLink['verdict']) => {
    const { tenant_id, approval_id, input_hash, deadline_at: expires_at } = approval
    const secret = randomBytes(32).toString('base64url')
    const link_id = randomBytes(12).toString('hex')
    const bound = { ...to, link_id, tenant_id, approval_id, input_hash, verdict, expires_at }
    return { path: `${ANSWER_PATH}${link_id}.${secret}`, row: { ...bound, digest: digestOf(secret, bound) } }
  }
  const [approve, deny] = [make('approve'), make('deny')]
  await store.createApprovalLinks([approve.row, deny.row])
  return { approve: approve.path, deny: deny.path }
}

type BoundLink = Omit<ApprovalLink, 'digest' | 'created_at' | 'used_at'>

function digestOf(secret: string, link: BoundLink): string {
  const { link_id, tenant_id, approval_id, verdict, route, recipient, member_id, input_hash, expires_at } =
    link
  const to = [route, recipient, member_id]
  const bound = [secret, link_id, tenant_id, approval_id, verdict, ...to, input_hash, expires_at]
  return createHash('sha256').update(JSON.stringify(bound)).digest('hex')
}

/** A link that someone presents. `link` is set if there is a link with this id, even if its secret is wrong. */
export interface PresentedLink {
  readonly link: ApprovalLink | undefined
  readonly isGenuine: boolean
}

export async function findAnswerLink(
  store: Pick<Store, 'findApprovalLink'>,
  given: string,
): Promise<PresentedLink> {
  const [, id = '', secret = ''] = LINK.exec(given) ?? []
  const link = id === '' ? undefined : await store.findApprovalLink(id)
  if (link === undefined) return { link, isGenuine: false }
  return { link, isGenuine: sameText(digestOf(secret, link), link.digest) }
}

export function wrongLink() {
  return serverError('approval.link', 'this link is not valid')
}
