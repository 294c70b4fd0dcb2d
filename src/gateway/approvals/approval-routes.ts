import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { wholeNumber } from '../../config/schema/zod-schema.ts'
import { channelSchema } from '../../rules/teams.ts'
import type { ApprovalMessage } from '../../store/stores/approval-store.ts'

const WEEK_MINUTES = 7 * 24 * 60
const name = z
  .string()
  .regex(/^[\w][\w .-]{0,59}$/, 'must be up to 60 letters, digits, spaces, dots, dashes and underscores')

const team = z.strictObject({
  type: z.literal('team'),
  team: z.string().min(1).max(500).describe('A team of `notify_team`.'),
  members: z
    .array(z.string().min(1).max(500))
    .max(200)
    .readonly()
    .describe('All members if omitted.')
    .exactOptional(),
})

const routeSchema = z.strictObject({
  name,
  after_minutes: wholeNumber(0, WEEK_MINUTES)
    .describe('How long the question may stay unanswered before this route is used; 0 if omitted.')
    .exactOptional(),
  to: z.discriminatedUnion('type', [...channelSchema.options, team]),
})
type ApprovalRoute = z.output<typeof routeSchema>

/** Where questions are sent, and after how many minutes. At the deadline the call is denied. */
export const approvalRoutesSchema = z
  .array(routeSchema)
  .max(20)
  .readonly()
  .refine((routes) => new Set(routes.map((route) => route.name)).size === routes.length, {
    message: 'must have different names',
  })

/** What a message carries until it is sent. */
export interface RouteMessage {
  readonly route: string
  readonly to: ApprovalRoute['to']
  /** The member of a team, if the message goes to one. */
  readonly member?: string
}

/**
 * The messages of one question. A hook that names routes uses those; if none of them exists, all are used: a question must
 * not be lost to a typing error.
 */
export function messagesFor(
  routes: readonly ApprovalRoute[],
  chosen: readonly string[] | undefined,
): readonly ApprovalMessage[] {
  const named = chosen === undefined ? [] : routes.filter((route) => chosen.includes(route.name))
  return (named.length === 0 ? routes : named).map((route) => {
    const payload: RouteMessage = { route: route.name, to: route.to }
    const after_ms = (route.after_minutes ?? 0) * 60_000
    return { id: randomUUID(), key: route.name, payload: JSON.stringify(payload), after_ms }
  })
}
