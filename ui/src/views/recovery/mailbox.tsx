import { Button, SegmentedControl } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useState } from 'react'
import type { Methods } from '../../../../src/client/index.ts'
import { useMay } from '../../frame/caller.ts'
import { call } from '../../gateway/call.ts'
import { showControls } from '../../parts/format.ts'
import { Text } from '../../parts/json.tsx'
import { Empty, Failed, Loaded, Panel, Tag } from '../../parts/layout.tsx'
import { Age } from '../../parts/values.tsx'
import { deliveryText } from './firing-page.tsx'
import styles from './recovery.module.css'

type Message = Methods['mailbox.list']['result']['messages'][number]

interface MailboxProps {
  readonly team: string | undefined
  readonly messageId: string | undefined
}

/** The messages of one team or of all, newest first. Opening one marks it as read. */
export function Mailbox({ team, messageId }: MailboxProps) {
  const [isUnread, setUnread] = useState(false)
  const query = useQuery({
    queryKey: ['mailbox', team ?? '', isUnread],
    queryFn: ({ signal }) =>
      call(
        'mailbox.list',
        { limit: 100, ...(team === undefined ? {} : { team }), ...(isUnread ? { unread: true } : {}) },
        signal,
      ),
  })
  return (
    <Panel
      title={team === undefined ? 'Mailboxes' : `Mailboxes of ${team}`}
      aside={
        <SegmentedControl
          size="xs"
          aria-label="Which messages"
          data={['All', 'Unread']}
          value={isUnread ? 'Unread' : 'All'}
          onChange={(value) => setUnread(value === 'Unread')}
        />
      }
    >
      <Loaded query={query} rows={5}>
        {({ messages }) =>
          messages.length === 0 ? (
            <Empty title={isUnread ? 'Nothing is unread' : 'No message yet'}>
              When a rule notifies a team, each recipient gets the message here.
            </Empty>
          ) : (
            messages.map((message) => (
              <MessageRow
                key={message.message_id}
                message={message}
                team={team}
                isOpen={message.message_id === messageId}
              />
            ))
          )
        }
      </Loaded>
    </Panel>
  )
}

interface MessageRowProps {
  readonly message: Message
  readonly team: string | undefined
  readonly isOpen: boolean
}

function MessageRow({ message, team, isOpen }: MessageRowProps) {
  const navigate = useNavigate()
  const { message_id, member, summary, created_at, read_at, channels } = message
  const near = team === undefined ? {} : { team }
  const open = () =>
    void navigate({
      to: '/recovery',
      search: { tab: 'teams', ...near, ...(isOpen ? {} : { message: message_id }) },
      replace: true,
    })
  return (
    <article className={styles.message} data-message={message_id} data-read={read_at !== null}>
      <button type="button" className={styles.messageHead} aria-expanded={isOpen} onClick={open}>
        <span className={styles.dot} data-unread={read_at === null} aria-hidden />
        <span className={styles.cut}>
          {read_at === null ? <b>{showControls(summary)}</b> : showControls(summary)}
          <span className={styles.unseen}>{read_at === null ? ' unread' : ''}</span>
        </span>
        <span className={`${styles.muted} ${styles.cut}`}>
          {showControls(member)} {channels.length === 0 ? '' : `· ${channels.join(', ')}`}
        </span>
        <span className={styles.muted}>
          <Age at={created_at} />
        </span>
      </button>
      {isOpen ? <OpenMessage message={message} /> : null}
    </article>
  )
}

function OpenMessage({ message }: { readonly message: Message }) {
  const queries = useQueryClient()
  const mayRead = useMay('operator')
  const { message_id, firing_id, from, team, member, text, read_at } = message
  const settled = { onSettled: () => queries.invalidateQueries({ queryKey: ['mailbox'] }) }
  const read = useMutation({ ...settled, mutationFn: () => call('mailbox.read', { message_id }) })
  const remove = useMutation({ ...settled, mutationFn: () => call('mailbox.delete', { message_id }) })
  const markRead = useEffectEvent(() => {
    if (read_at === null && mayRead) read.mutate()
  })
  useEffect(() => markRead(), [])
  const failure = read.error ?? remove.error
  return (
    <div className={styles.open}>
      <p className={styles.muted}>
        from <code>{showControls(from)}</code> to {showControls(member)} of {showControls(team)}
      </p>
      <Text text={text} />
      {firing_id === null ? null : <Deliveries firingId={firing_id} messageId={message_id} />}
      <div className={styles.buttons}>
        {firing_id === null ? null : (
          <Link to="/recovery/firings/$firingId" params={{ firingId: firing_id }}>
            What fired
          </Link>
        )}
        {mayRead ? (
          <Button variant="default" size="compact-xs" onClick={() => remove.mutate()}>
            Delete
          </Button>
        ) : null}
      </div>
      {failure === null ? null : <Failed error={failure} />}
    </div>
  )
}

interface DeliveriesProps {
  readonly firingId: string
  readonly messageId: string
}

/** What became of the message on each channel of its recipient. */
function Deliveries({ firingId, messageId }: DeliveriesProps) {
  const { data } = useQuery({
    queryKey: ['firing', firingId],
    queryFn: ({ signal }) => call('rules.firing', { firing_id: firingId }, signal),
  })
  const deliveries = data?.messages.find(({ message_id }) => message_id === messageId)?.deliveries ?? []
  if (deliveries.length === 0) return null
  return (
    <ul className={styles.members}>
      {deliveries.map((delivery, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a member may have two channels of a type
        <li key={index}>
          <Tag>{delivery.type}</Tag> {showControls(deliveryText(delivery))}
        </li>
      ))}
    </ul>
  )
}
