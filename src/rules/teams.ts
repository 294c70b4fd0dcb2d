import { z } from 'zod'

const text = z.string().min(1, 'must not be empty').max(500, 'must have at most 500 characters')
const address = z.union(
  [z.url({ protocol: /^https?$/ }).max(2_000), z.string().regex(/^secret:[\w.-]{1,64}$/)],
  { error: 'must be an http or https address, or `secret:NAME`' },
)

/** How a member is reached, in addition to the mailbox. */
export const channelSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('webhook'),
    url: address,
    secret: text.describe('The signing secret, `whsec_…` or `secret:NAME`.').exactOptional(),
  }),
  z.strictObject({ type: z.literal('slack'), url: address.describe('A Slack-compatible incoming webhook.') }),
  z.strictObject({ type: z.literal('email'), to: z.email('must be an e-mail address').max(320) }),
])
export type TeamChannel = z.output<typeof channelSchema>

const member = z.strictObject({
  name: text,
  channels: z.array(channelSchema).max(20).readonly().exactOptional(),
})

/** Who gets the messages of `notify_team`. Each member has a mailbox. */
export const teamSchema = z.strictObject({
  description: z.string().max(2_000).exactOptional(),
  members: z
    .array(member)
    .max(200)
    .readonly()
    .refine((members) => new Set(members.map(({ name }) => name)).size === members.length, {
      message: 'must have different names',
    }),
})
export type TeamDefinition = z.output<typeof teamSchema>

/** Checks a stored team. Undefined if it cannot be read. */
export function readTeam(definition: unknown): TeamDefinition | undefined {
  const read = teamSchema.safeParse(definition)
  return read.success ? read.data : undefined
}
