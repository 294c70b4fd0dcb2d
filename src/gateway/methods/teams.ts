import { z } from 'zod'
import { checkWithZod } from '../../config/schema/check-with-zod.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import { readTeam, teamSchema } from '../../rules/teams.ts'
import type { MailboxRow, NamedRow } from '../../store/stores/rule-store.ts'
import { defineCall } from './method.ts'
import { noParams, pageFields, readonlyList, requestedPage, shortText } from './method-fields.ts'

const record = z.record(z.string(), z.unknown()).readonly()
const name = shortText.describe('The name of the team, unique in its tenant.')
const members = readonlyList(record).describe('`name`, and `channels`: webhook, slack or email.')
const description = z.string().max(2_000)

const team = z.object({
  name: z.string(),
  definition: record.nullable().describe('Null if it cannot be decrypted.'),
  updated_at: z.number(),
})

const list = defineCall({
  name: 'teams.list',
  about: 'The teams that recovery rules notify, without the addresses of their members.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/teams' },
  params: noParams,
  result: z.object({
    teams: readonlyList(
      z.object({
        name: z.string(),
        description: z.string().nullable(),
        members: readonlyList(z.object({ name: z.string(), channels: readonlyList(z.string()) })),
        updated_at: z.number(),
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
  params: z.strictObject({ name }),
  result: z.object({ team }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const row = await parts.store.findTeam(caller.tenant, params.name)
    if (row === undefined) throw notFound(params.name)
    return { team: toTeam(row) }
  },
})

const create = defineCall({
  name: 'teams.create',
  about: 'Saves a new team.',
  role: 'admin',
  rest: { verb: 'POST', path: '/v1/teams', status: 201 },
  params: z.strictObject({ name, description: description.exactOptional(), members }),
  result: z.object({ team }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { name: of, ...given } = params
    const row = await parts.store.saveTeam(caller.tenant, { name: of, definition: checked(given) }, true)
    if (row === undefined) throw serverError('gateway.conflict', `there is a team ${of} already`)
    return { team: toTeam(row) }
  },
})

const update = defineCall({
  name: 'teams.update',
  about: 'Replaces fields of a team.',
  role: 'admin',
  rest: { verb: 'PATCH', path: '/v1/teams/:name' },
  params: z.strictObject({
    name,
    description: description.exactOptional(),
    members: members.exactOptional(),
  }),
  result: z.object({ team }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { name: of, ...given } = params
    const before = await parts.store.findTeam(caller.tenant, of)
    if (before === undefined) throw notFound(of)
    const definition = checked({ ...before.definition, ...given })
    const row = await parts.store.saveTeam(caller.tenant, { name: of, definition }, false)
    if (row === undefined) throw notFound(of)
    return { team: toTeam(row) }
  },
})

const remove = defineCall({
  name: 'teams.delete',
  about: 'Deletes a team with the mailboxes of its members.',
  role: 'admin',
  rest: { verb: 'DELETE', path: '/v1/teams/:name' },
  params: z.strictObject({ name }),
  result: z.object({ name: z.string() }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    if (!(await parts.store.deleteTeam(caller.tenant, params.name))) throw notFound(params.name)
    return { name: params.name }
  },
})

function checked(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const [problem] = checkWithZod(teamSchema, given)
  if (problem !== undefined) throw problem.error
  return given
}

function toTeam({ name: of, definition, updated_at }: NamedRow): z.output<typeof team> {
  return { name: of, definition, updated_at }
}

function notFound(of: string): Error {
  return serverError('gateway.not_found', `team not found: ${of}`)
}

export const mailboxMessage = z.object({
  message_id: z.string(),
  team: z.string(),
  member: z.string(),
  firing_id: z.string().nullable(),
  from: z.string(),
  summary: z.string(),
  text: z.string(),
  channels: readonlyList(z.string()).describe(
    'Where it was sent besides the mailbox: webhook, slack, email.',
  ),
  created_at: z.number(),
  read_at: z.number().nullable(),
})

const mailboxList = defineCall({
  name: 'mailbox.list',
  about: 'Messages in the mailboxes of teams, newest first.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/mailbox' },
  params: z.strictObject({
    team: shortText.exactOptional(),
    member: shortText.exactOptional(),
    unread: z.boolean().exactOptional(),
    firing_id: shortText.describe('Messages of this firing.').exactOptional(),
    ...pageFields,
  }),
  result: z.object({ messages: readonlyList(mailboxMessage), nextCursor: z.string() }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { cursor, limit, ...filter } = params
    const { rows, nextCursor } = await parts.store.listMailbox(caller.tenant, filter, requestedPage(params))
    return { messages: rows.map(toMailboxMessage), nextCursor }
  },
})

const message_id = shortText

const mailboxShow = defineCall({
  name: 'mailbox.show',
  about: 'One message.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/mailbox/:message_id' },
  params: z.strictObject({ message_id }),
  result: z.object({ message: mailboxMessage }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const row = await parts.store.findMessage(caller.tenant, params.message_id)
    if (row === undefined) throw noMessage(params.message_id)
    return { message: toMailboxMessage(row) }
  },
})

const mailboxRead = defineCall({
  name: 'mailbox.read',
  about: 'Marks a message as read.',
  role: 'operator',
  rest: { verb: 'POST', path: '/v1/mailbox/:message_id/read' },
  params: z.strictObject({ message_id }),
  result: z.object({ message: mailboxMessage }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    await parts.store.markRead(caller.tenant, [params.message_id])
    const row = await parts.store.findMessage(caller.tenant, params.message_id)
    if (row === undefined) throw noMessage(params.message_id)
    return { message: toMailboxMessage(row) }
  },
})

const mailboxDelete = defineCall({
  name: 'mailbox.delete',
  about: 'Deletes a message.',
  role: 'operator',
  rest: { verb: 'DELETE', path: '/v1/mailbox/:message_id' },
  params: z.strictObject({ message_id }),
  result: z.object({ message_id: z.string() }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    if (!(await parts.store.deleteMessage(caller.tenant, params.message_id)))
      throw noMessage(params.message_id)
    return { message_id: params.message_id }
  },
})

export function toMailboxMessage({
  tenant_id: _,
  content,
  ...row
}: MailboxRow): z.output<typeof mailboxMessage> {
  const textOf = (key: string) => (typeof content?.[key] === 'string' ? String(content[key]) : '')
  const channels = Array.isArray(content?.channels) ? content.channels.map(String) : []
  return { ...row, from: textOf('from'), summary: textOf('summary'), text: textOf('text'), channels }
}

function noMessage(messageId: string): Error {
  return serverError('gateway.not_found', `message not found: ${messageId}`)
}

// biome-ignore format: one line per noun
export const teamMethods = [
  list, show, create, update, remove,
  mailboxList, mailboxShow, mailboxRead, mailboxDelete,
] as const
