import { serverError } from '../engine/core/errors/server-errors.ts'
import { nullable, numeric } from '../engine/core/schema/more-schemas.ts'
import { readChecked } from '../engine/core/schema/read-checked.ts'
import { type SchemaType, schema } from '../engine/core/schema/schema.ts'
import { defineCall } from '../methods/method.ts'
import {
  found,
  jsonObject,
  noParams,
  pageFields,
  requestedPage,
  shortText,
} from '../methods/method-fields.ts'
import { rowFields, toResult } from '../methods/row-fields.ts'
import type { Store } from '../store/store.ts'
import { type MailboxRow, mailboxMessages, type NamedRow, teams } from './team-tables.ts'
import { readTeam, teamSchema } from './teams.ts'

const name = shortText('The name of the team, unique in its tenant.')
const members = schema.list(jsonObject(), '`name`, and `channels`: webhook, slack or email.')
const description = schema.text(undefined, { maxLength: 2_000 })

const team = schema.object(
  rowFields(teams, ['tenant_id', 'created_at'], { definition: 'Null if it cannot be decrypted.' }),
)

const list = defineCall({
  name: 'teams.list',
  about: 'The teams that recovery rules notify, without the addresses of their members.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/teams' },
  params: noParams,
  result: schema.object({
    teams: schema.list(
      schema.object({
        name: schema.text(),
        description: nullable(schema.text()),
        members: schema.list(schema.object({ name: schema.text(), channels: schema.list(schema.text()) })),
        updated_at: numeric(),
      }),
    ),
  }),
  needs: ['store'],
  async run({ caller, parts }) {
    const rows = await parts.store.listTeams(caller.tenant)
    return { teams: rows.map(toSummary) }
  },
})

function toSummary({ name: of, definition, updated_at }: NamedRow) {
  const read = readTeam(definition)
  return {
    ...{ name: of, description: read?.description ?? null, updated_at },
    members: (read?.members ?? []).map((member) => ({
      name: member.name,
      channels: (member.channels ?? []).map(({ type }) => type),
    })),
  }
}

const show = defineCall({
  name: 'teams.show',
  about: 'One team with the addresses of its members.',
  role: 'admin',
  rest: { verb: 'GET', path: '/v1/teams/:name' },
  params: schema.object({ name }),
  result: schema.object({ team }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const row = await parts.store.findTeam(caller.tenant, params.name)
    return { team: toResult(team, found(row, 'team', params.name)) }
  },
})

const create = defineCall({
  name: 'teams.create',
  about: 'Saves a new team.',
  role: 'admin',
  rest: { verb: 'POST', path: '/v1/teams', status: 201 },
  params: schema.object({ name, description: schema.optional(description), members }),
  result: schema.object({ team }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { name: of, ...given } = params
    const row = await parts.store.saveTeam(caller.tenant, { name: of, definition: checked(given) }, true)
    if (row === undefined) throw serverError('gateway.conflict', `there is a team ${of} already`)
    return { team: toResult(team, row) }
  },
})

const update = defineCall({
  name: 'teams.update',
  about: 'Replaces fields of a team.',
  role: 'admin',
  rest: { verb: 'PATCH', path: '/v1/teams/:name' },
  params: schema.object({
    name,
    description: schema.optional(description),
    members: schema.optional(members),
  }),
  result: schema.object({ team }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { name: of, ...given } = params
    const before = found(await parts.store.findTeam(caller.tenant, of), 'team', of)
    const definition = checked({ ...before.definition, ...given })
    const row = await parts.store.saveTeam(caller.tenant, { name: of, definition }, false)
    return { team: toResult(team, found(row, 'team', of)) }
  },
})

const remove = defineCall({
  name: 'teams.delete',
  about: 'Deletes a team with the mailboxes of its members.',
  role: 'admin',
  rest: { verb: 'DELETE', path: '/v1/teams/:name' },
  params: schema.object({ name }),
  result: schema.object({ name: schema.text() }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    found(await parts.store.deleteTeam(caller.tenant, params.name), 'team', params.name)
    return { name: params.name }
  },
})

function checked(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  readChecked(teamSchema, given)
  return given
}

export const mailboxMessage = schema.object({
  ...rowFields(mailboxMessages, ['tenant_id', 'content']),
  from: schema.text(),
  summary: schema.text(),
  text: schema.text(),
  channels: schema.list(schema.text(), 'Where it was sent besides the mailbox: webhook, slack, email.'),
})

const mailboxFilter = schema.object(
  schema.partial({
    team: shortText(),
    member: shortText(),
    unread: schema.boolean(),
    firing_id: shortText('Messages of this firing.'),
  }),
)
export type MailboxFilter = SchemaType<typeof mailboxFilter>

const mailboxList = defineCall({
  name: 'mailbox.list',
  about: 'Messages in the mailboxes of teams, newest first.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/mailbox' },
  params: schema.object({ ...mailboxFilter.fields, ...pageFields }),
  result: schema.object({ messages: schema.list(mailboxMessage), nextCursor: schema.text() }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { cursor, limit, ...filter } = params
    const { rows, nextCursor } = await parts.store.listMailbox(caller.tenant, filter, requestedPage(params))
    return { messages: rows.map(toMailboxMessage), nextCursor }
  },
})

const message_id = shortText()

const mailboxShow = defineCall({
  name: 'mailbox.show',
  about: 'One message.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/mailbox/:message_id' },
  params: schema.object({ message_id }),
  result: schema.object({ message: mailboxMessage }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    return { message: await findMessage(parts.store, caller.tenant, params.message_id) }
  },
})

const mailboxRead = defineCall({
  name: 'mailbox.read',
  about: 'Marks a message as read.',
  role: 'operator',
  rest: { verb: 'POST', path: '/v1/mailbox/:message_id/read' },
  params: schema.object({ message_id }),
  result: schema.object({ message: mailboxMessage }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    await parts.store.markRead(caller.tenant, [params.message_id])
    return { message: await findMessage(parts.store, caller.tenant, params.message_id) }
  },
})

const mailboxDelete = defineCall({
  name: 'mailbox.delete',
  about: 'Deletes a message.',
  role: 'operator',
  rest: { verb: 'DELETE', path: '/v1/mailbox/:message_id' },
  params: schema.object({ message_id }),
  result: schema.object({ message_id: schema.text() }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    found(await parts.store.deleteMessage(caller.tenant, params.message_id), 'message', params.message_id)
    return { message_id: params.message_id }
  },
})

export function toMailboxMessage({
  tenant_id: _,
  content,
  ...row
}: MailboxRow): SchemaType<typeof mailboxMessage> {
  const textOf = (key: string) => (typeof content?.[key] === 'string' ? String(content[key]) : '')
  const channels = Array.isArray(content?.channels) ? content.channels.map(String) : []
  return { ...row, from: textOf('from'), summary: textOf('summary'), text: textOf('text'), channels }
}

async function findMessage({ findMessage: find }: Pick<Store, 'findMessage'>, tenant: string, id: string) {
  return toMailboxMessage(found(await find(tenant, id), 'message', id))
}

// biome-ignore format: one line per noun
export const teamMethods = [
  list, show, create, update, remove,
  mailboxList, mailboxShow, mailboxRead, mailboxDelete,
] as const
