import { randomUUID } from 'node:crypto'
import type { ApprovalMessage } from '../approvals/stored/approval-tables.ts'
import { shortList, tagged, textLike } from '../engine/core/schema/more-schemas.ts'
import { type SchemaType, schema } from '../engine/core/schema/schema.ts'
import { channels, withDifferentNames } from '../teams/teams.ts'

const WEEK_MINUTES = 7 * 24 * 60
const name = textLike(
  /^[\w][\w .-]{0,59}$/,
  'be up to 60 letters, digits, spaces, dots, dashes and underscores',
)

const team = schema.object({
  type: schema.choice(['team']),
  team: schema.text('A team of `notify_team`.', { minLength: 1, maxLength: 500 }),
  members: schema.optional(
    shortList(schema.text(undefined, { minLength: 1, maxLength: 500 }), 200, 'All members if omitted.'),
  ),
})

const routeSchema = schema.object({
  name,
  after_minutes: schema.optional(
    schema.integer(
      0,
      WEEK_MINUTES,
      'How long the question may stay unanswered before this route is used; 0 if omitted.',
    ),
  ),
  to: tagged('type', [...channels, team]),
})
type ApprovalRoute = SchemaType<typeof routeSchema>

/** Where questions are sent, and after how many minutes. At the deadline the call is denied. */
export const approvalRoutesSchema = withDifferentNames(shortList(routeSchema, 20))

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
