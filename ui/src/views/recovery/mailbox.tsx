import { Group, VisuallyHidden } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useState } from 'react'
import { useMay } from '../../frame/caller.ts'
import type { Result } from '../../gateway/call.ts'
import { useAction } from '../../gateway/use-action.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { TinyButton } from '../../parts/buttons/quiet-button.ts'
import { TwoWay } from '../../parts/form/two-way.tsx'
import { Text } from '../../parts/json.tsx'
import { Empty, Failed, LoadedList, Panel, Tag } from '../../parts/layout.tsx'
import { Age } from '../../parts/values.tsx'
import { deliveryText } from './firing-page.tsx'
import styles from './recovery.module.css'

type Message = Result<'mailbox.list'>['messages'][number]

/** The messages of one team or of all, newest first. Opening one marks it as read. */
export function Mailbox({
  team,
  messageId,
}: Readonly<{ team: string | undefined; messageId: string | undefined }>) {
  const [isUnread, setUnread] = useState(false)
  const query = useMethod('mailbox.list', { limit: 100, team, unread: isUnread || undefined })
  return (
    <Panel
      title={team === undefined ? 'Mailboxes' : `Mailboxes of ${team}`}
      aside={
        <TwoWay label="Which messages" words={['All', 'Unread']} isSecond={isUnread} onChange={setUnread} />
      }
    >
      <LoadedList
        query={query}
        rows={5}
        of={({ messages }) => messages}
        empty={
          <Empty title={isUnread ? 'Nothing is unread' : 'No message yet'}>
            When a rule notifies a team, each recipient gets the message here.
          </Empty>
        }
      >
        {(message) => (
          <MessageRow
            key={message.message_id}
            message={message}
            team={team}
            isOpen={message.message_id === messageId}
          />
        )}
      </LoadedList>
    </Panel>
  )
}

function MessageRow({
  message,
  team,
  isOpen,
}: Readonly<{ message: Message; team: string | undefined; isOpen: boolean }>) {
  const navigate = useNavigate()
  const { message_id, member, summary, created_at, read_at, channels } = message
  const open = () =>
    void navigate({
      to: '/recovery',
      search: { tab: 'teams', team, message: isOpen ? undefined : message_id },
      replace: true,
    })
  return (
    <article className="lined" data-message={message_id} data-read={read_at !== null}>
      <button type="button" className={styles.messageHead} aria-expanded={isOpen} onClick={open}>
        <span className={styles.dot} data-unread={read_at === null} aria-hidden />
        <span className="cut">
          {read_at === null ? <b>{summary}</b> : summary}
          <VisuallyHidden>{read_at === null ? ' unread' : ''}</VisuallyHidden>
        </span>
        <span className="muted small cut">
          {member} {channels.length === 0 ? '' : `· ${channels.join(', ')}`}
        </span>
        <span className="muted small">
          <Age at={created_at} />
        </span>
      </button>
      {isOpen ? <OpenMessage message={message} /> : null}
    </article>
  )
}

function OpenMessage({ message }: Readonly<{ message: Message }>) {
  const mayRead = useMay('operator')
  const { message_id, firing_id, from, team, member, text, read_at } = message
  const read = useAction('mailbox.read')
  const remove = useAction('mailbox.delete')
  const markRead = useEffectEvent(() => {
    if (read_at === null && mayRead) read.mutate({ message_id })
  })
  useEffect(() => markRead(), [])
  return (
    <div className={styles.open}>
      <p className="muted small">
        from <code>{from}</code> to {member} of {team}
      </p>
      <Text text={text} />
      {firing_id === null ? null : <Deliveries firingId={firing_id} messageId={message_id} />}
      <Group gap={8}>
        {firing_id === null ? null : (
          <Link to="/recovery/firings/$firingId" params={{ firingId: firing_id }}>
            What fired
          </Link>
        )}
        {mayRead ? <TinyButton onClick={() => remove.mutate({ message_id })}>Delete</TinyButton> : null}
      </Group>
      <Failed error={read.error ?? remove.error} />
    </div>
  )
}

/** What became of the message on each channel of its recipient. */
function Deliveries({ firingId, messageId }: Readonly<{ firingId: string; messageId: string }>) {
  const { data } = useMethod('rules.firing', { firing_id: firingId })
  const deliveries = data?.messages.find(({ message_id }) => message_id === messageId)?.deliveries ?? []
  if (deliveries.length === 0) return null
  return (
    <ul className={styles.members}>
      {deliveries.map((delivery, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a member may have two channels of a type
        <li key={index}>
          <Tag>{delivery.type}</Tag> {deliveryText(delivery)}
        </li>
      ))}
    </ul>
  )
}
