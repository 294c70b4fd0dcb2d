import { Button, Group, Modal, Select, TextInput } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { unchecked } from '../../gateway/call.ts'
import { useAction } from '../../gateway/use-action.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { QuietButton, SmallButton } from '../../parts/buttons/quiet-button.ts'
import { type Draft, TextField } from '../../parts/form/draft-fields.tsx'
import { type Fields, fieldsOf, listOf, textOf, withField } from '../../parts/form/fields.ts'
import { IconAction } from '../../parts/form/icon-action.tsx'
import { Failed, Loaded, layout } from '../../parts/layout.tsx'
import { type Problems, problemAt, problemsOf } from '../rules/rule-draft.ts'
import styles from './recovery.module.css'

interface TeamEditorProps {
  /** The team to change; a new one if absent. */
  readonly name?: string
  readonly onClose: () => void
}

/** A team with its members and the channels of each. */
export function TeamEditor({ name, onClose }: TeamEditorProps) {
  const query = useMethod('teams.show', { name: name ?? '' }, { enabled: name !== undefined })
  return (
    <Modal opened onClose={onClose} title={name === undefined ? 'New team' : `Team ${name}`} size="lg">
      {name === undefined ? (
        <TeamForm given={{ members: [{ name: '' }] }} name={undefined} onClose={onClose} />
      ) : (
        <Loaded query={query} rows={3}>
          {({ team }) => <TeamForm given={fieldsOf(team.definition)} name={name} onClose={onClose} />}
        </Loaded>
      )}
    </Modal>
  )
}

function TeamForm({
  given,
  name,
  onClose,
}: Readonly<{ given: Fields; name: string | undefined; onClose: () => void }>) {
  const [typedName, setName] = useState(name ?? '')
  const [draft, setDraft] = useState(given)
  const members = listOf(draft.members).map(fieldsOf)
  const setMembers = (next: readonly Fields[]) => setDraft(withField(draft, 'members', next))
  const save = useAction(name === undefined ? 'teams.create' : 'teams.update', { onSuccess: onClose })
  const problems = problemsOf(save.error)
  return (
    <div className={layout.fields}>
      <TextInput
        label="Name"
        value={typedName}
        disabled={name !== undefined}
        error={problemAt(problems, 'name')}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        required
      />
      <TextField
        draft={{ value: draft, set: (field, given) => setDraft(withField(draft, field, given)) }}
        name="description"
        label="Description"
      />
      {members.map((member, index) => (
        <MemberForm
          // biome-ignore lint/suspicious/noArrayIndexKey: a member keeps its place while its name is typed
          key={index}
          member={member}
          position={index}
          problems={problems}
          onChange={(next) => setMembers(members.with(index, next))}
          onRemove={() => setMembers(members.toSpliced(index, 1))}
        />
      ))}
      <Group gap="xs">
        <QuietButton onClick={() => setMembers([...members, { name: '' }])}>Add a member</QuietButton>
        <Button
          size="xs"
          loading={save.isPending}
          onClick={() => save.mutate(unchecked({ ...draft, name: typedName }))}
        >
          Save the team
        </Button>
      </Group>
      <Failed error={save.error} />
    </div>
  )
}

interface MemberFormProps {
  readonly member: Fields
  readonly position: number
  readonly problems: Problems
  readonly onChange: (member: Fields) => void
  readonly onRemove: () => void
}

function MemberForm({ member, position, problems, onChange, onRemove }: MemberFormProps) {
  const channels = listOf(member.channels).map(fieldsOf)
  const number = position + 1
  const save = (next: readonly Fields[]) =>
    onChange(withField(member, 'channels', next.length === 0 ? undefined : next))
  return (
    <fieldset className={styles.action} aria-label={`Member ${number}`}>
      <Group justify="space-between" gap={8}>
        <TextInput
          aria-label={`Name of member ${number}`}
          placeholder="name"
          value={textOf(member.name)}
          error={problems.get(`members.${position}.name`)}
          onChange={({ currentTarget }) => onChange({ ...member, name: currentTarget.value })}
        />
        <Group gap={4}>
          <SmallButton onClick={() => save([...channels, { type: 'webhook', url: '' }])}>
            Add a channel
          </SmallButton>
          <IconAction icon={IconTrash} label={`Remove member ${number}`} onDo={onRemove} />
        </Group>
      </Group>
      {channels.map((channel, index) => (
        <ChannelForm
          // biome-ignore lint/suspicious/noArrayIndexKey: a channel has no identity while it is edited
          key={index}
          channel={channel}
          about={`channel ${index + 1} of member ${number}`}
          problem={problemAt(problems, `members.${position}.channels.${index}`)}
          onChange={(next) => save(channels.with(index, next))}
          onRemove={() => save(channels.toSpliced(index, 1))}
        />
      ))}
    </fieldset>
  )
}

interface ChannelFormProps {
  readonly channel: Fields
  readonly about: string
  readonly problem: string | undefined
  readonly onChange: (channel: Fields) => void
  readonly onRemove: () => void
}

function ChannelForm({ channel, about, problem, onChange, onRemove }: ChannelFormProps) {
  const { type } = channel
  const draft: Draft = {
    value: channel,
    set: (name, given) => onChange(withField(channel, name, given)),
    problemOf: (name) => (name === 'secret' ? undefined : problem),
  }
  return (
    <div className={styles.channel}>
      <Select
        aria-label={`Type of ${about}`}
        data={['webhook', 'slack', 'email']}
        value={textOf(type) || null}
        allowDeselect={false}
        onChange={(next) => onChange(next === 'email' ? { type: next, to: '' } : { type: next, url: '' })}
      />
      <TextField
        draft={draft}
        name={type === 'email' ? 'to' : 'url'}
        aria-label={`Address of ${about}`}
        placeholder={type === 'email' ? 'ada@example.com' : 'https://…'}
        required
      />
      {type === 'webhook' ? (
        <TextField
          draft={draft}
          name="secret"
          aria-label={`Signing secret of ${about}`}
          placeholder="secret:NAME"
        />
      ) : (
        <span />
      )}
      <IconAction icon={IconTrash} label={`Remove ${about}`} onDo={onRemove} />
    </div>
  )
}
