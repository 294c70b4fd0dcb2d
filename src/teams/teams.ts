import { checked, shortList, tagged, textLike, withAbout } from '../engine/core/schema/more-schemas.ts'
import { readIfValid } from '../engine/core/schema/read-checked.ts'
import { type Schema, type SchemaType, schema } from '../engine/core/schema/schema.ts'

const text = schema.text(undefined, { minLength: 1, maxLength: 500 })
const EMAIL =
  /^(?:[A-Za-z0-9_'+-]+\.)*[A-Za-z0-9_'+-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+[A-Za-z]{2,}$/

/** The text of an http or https address. */
export function webAddress(about?: string, limits: { readonly maxLength?: number } = {}): Schema<string> {
  return checked(schema.text(about, { ...limits, format: 'uri' }), (text, name) =>
    /^https?:$/.test(URL.parse(text)?.protocol ?? '')
      ? undefined
      : `${name} must be an http or https address`,
  )
}

/** A list of things that have different names. */
export function withDifferentNames<T extends { readonly name: string }>(
  list: Schema<readonly T[]>,
): Schema<readonly T[]> {
  return checked(list, (items, field) =>
    new Set(items.map(({ name }) => name)).size === items.length
      ? undefined
      : `${field} must have different names`,
  )
}

const address = schema.union(
  [webAddress(undefined, { maxLength: 2_000 }), textLike(/^secret:[\w.-]{1,64}$/, 'be `secret:NAME`')],
  'an http or https address, or `secret:NAME`',
)

/** How a member is reached, in addition to the mailbox. */
export const channels = [
  schema.object({
    type: schema.choice(['webhook']),
    url: address,
    secret: schema.optional(withAbout(text, 'The signing secret, `whsec_…` or `secret:NAME`.')),
  }),
  schema.object({
    type: schema.choice(['slack']),
    url: withAbout(address, 'A Slack-compatible incoming webhook.'),
  }),
  schema.object({
    type: schema.choice(['email']),
    to: textLike(EMAIL, 'be an e-mail address', { maxLength: 320, format: 'email' }),
  }),
] as const
const channelSchema = tagged('type', channels)
export type TeamChannel = SchemaType<typeof channelSchema>

const member = schema.object({
  name: text,
  channels: schema.optional(shortList(channelSchema, 20)),
})

/** Who gets the messages of `notify_team`. Each member has a mailbox. */
export const teamSchema = schema.object({
  description: schema.optional(schema.text(undefined, { maxLength: 2_000 })),
  members: withDifferentNames(shortList(member, 200)),
})
export type TeamDefinition = SchemaType<typeof teamSchema>

/** Checks a stored team. Undefined if it cannot be read. */
export function readTeam(definition: unknown): TeamDefinition | undefined {
  return readIfValid(teamSchema, definition)
}
