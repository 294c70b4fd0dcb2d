import { Group } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../frame/caller.ts'
import type { Result } from '../../gateway/call.ts'
import { useAction } from '../../gateway/use-action.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { Confirmed } from '../../parts/buttons/confirmed.tsx'
import { SmallButton, TinyButton } from '../../parts/buttons/quiet-button.ts'
import { Empty, Failed, LoadedList, layout, Panel, Tag } from '../../parts/layout.tsx'
import { Mailbox } from './mailbox.tsx'
import styles from './recovery.module.css'
import { TeamEditor } from './team-editor.tsx'

type Team = Result<'teams.list'>['teams'][number]

interface TeamsProps {
  /** The team whose mailboxes are shown; all if absent. */
  readonly team: string | undefined
  /** The message that is open. */
  readonly messageId: string | undefined
}

/** Who is notified, over which channels, and what they were told. */
export function Teams({ team, messageId }: TeamsProps) {
  const maySave = useMay('admin')
  const [edited, setEdited] = useState<{ readonly name?: string }>()
  const query = useMethod('teams.list')
  const newTeam = <SmallButton onClick={() => setEdited({})}>New team</SmallButton>
  return (
    <div className={layout.columns}>
      <Mailbox team={team} messageId={messageId} />
      <Panel title="Teams" aside={maySave ? newTeam : undefined}>
        <LoadedList
          query={query}
          rows={3}
          of={({ teams }) => teams}
          empty={
            <Empty title="No team yet" action={maySave ? newTeam : undefined}>
              <code>notify_team</code> sends a message to a team. Each member has a mailbox here, and may have
              webhooks, Slack and e-mail.
            </Empty>
          }
        >
          {(each) => (
            <TeamRow
              key={each.name}
              team={each}
              isChosen={each.name === team}
              onEdit={() => setEdited({ name: each.name })}
            />
          )}
        </LoadedList>
      </Panel>
      {edited === undefined ? null : <TeamEditor {...edited} onClose={() => setEdited(undefined)} />}
    </div>
  )
}

function TeamRow({
  team: { name, description, members },
  isChosen,
  onEdit,
}: Readonly<{ team: Team; isChosen: boolean; onEdit: () => void }>) {
  const maySave = useMay('admin')
  const remove = useAction('teams.delete')
  return (
    <div className={`${styles.team} lined`} data-team={name}>
      <Group justify="space-between" gap={12} wrap="nowrap">
        <Link
          to="/recovery"
          search={{ tab: 'teams', team: isChosen ? undefined : name }}
          aria-current={isChosen ? 'true' : undefined}
          className="cut"
        >
          <b>{name}</b>
        </Link>
        {maySave ? (
          <Group gap={8}>
            <TinyButton onClick={onEdit} aria-label={`Edit ${name}`}>
              Edit
            </TinyButton>
            <Confirmed
              word="Delete"
              sure={`Delete ${name} with its mailboxes`}
              onDo={() => remove.mutate({ name })}
            />
          </Group>
        ) : null}
      </Group>
      {description === null ? null : <p className="muted small">{description}</p>}
      <ul className={styles.members}>
        {members.map((member) => (
          <li key={member.name}>
            {member.name} <Tag>mailbox</Tag>
            {member.channels.map((channel, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a member may have two channels of a type
              <Tag key={index}>{channel}</Tag>
            ))}
          </li>
        ))}
      </ul>
      <Failed error={remove.error} />
    </div>
  )
}
