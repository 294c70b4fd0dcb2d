import { Button, Group, Modal, SegmentedControl, Switch, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useCaller } from '../../frame/caller.ts'
import { type Result, unchecked } from '../../gateway/call.ts'
import { useAction } from '../../gateway/use-action.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { Confirmed } from '../../parts/buttons/confirmed.tsx'
import { SmallButton, TinyButton } from '../../parts/buttons/quiet-button.ts'
import { ObjectText } from '../../parts/form/draft-fields.tsx'
import { type Fields, fieldsOf, listOf, textOf, updateTo, withField } from '../../parts/form/fields.ts'
import { Empty, Failed, LoadedList, layout, Panel, Tag } from '../../parts/layout.tsx'
import { Age } from '../../parts/values.tsx'
import { MONO } from '../../theme.ts'
import { type Problems, problemAt, problemsOf } from '../rules/rule-draft.ts'
import styles from './recovery.module.css'

type Environment = Result<'environments.list'>['environments'][number]

/** What starts runners when a rule warms up capacity, and whether rules may do so. */
export function Environments() {
  const [edited, setEdited] = useState<Partial<Environment>>()
  const query = useMethod('environments.list')
  const newButton = <SmallButton onClick={() => setEdited({})}>New environment</SmallButton>
  return (
    <div className={layout.stack}>
      <Permission />
      <Panel title="Environments" aside={newButton}>
        <LoadedList
          query={query}
          rows={3}
          of={({ environments }) => environments}
          empty={
            <Empty title="No environment yet" action={newButton}>
              <code>warm_remote_capacity</code> starts runners through the first environment that is on: a
              process that the gateway keeps, a command, or an endpoint that scales a pool.
            </Empty>
          }
        >
          {(each) => <EnvironmentRow key={each.name} environment={each} onEdit={() => setEdited(each)} />}
        </LoadedList>
      </Panel>
      {edited === undefined ? null : (
        <EnvironmentEditor environment={edited} onClose={() => setEdited(undefined)} />
      )}
    </div>
  )
}

/** The permission `allow_remote_sessions`. Without it, warming up is a recorded skip. */
function Permission() {
  const query = useMethod('settings.get')
  const change = useAction('settings.set')
  const isAllowed = query.data?.settings.allow_remote_sessions?.value === true
  return (
    <div className={`${layout.panel} ${styles.main}`}>
      <Switch
        label="Rules may start runners"
        checked={isAllowed}
        disabled={query.data === undefined || change.isPending}
        onChange={({ currentTarget: { checked } }) =>
          change.mutate({ settings: { allow_remote_sessions: checked } })
        }
      />
      <span className="muted small">
        {isAllowed
          ? 'The setting allow_remote_sessions is on.'
          : 'While it is off, the action is skipped and the skip is recorded.'}
      </span>
      <Failed error={change.error} />
    </div>
  )
}

function EnvironmentRow({
  environment: { name, definition, updated_at },
  onEdit,
}: Readonly<{ environment: Environment; onEdit: () => void }>) {
  const toggle = useAction('environments.update')
  const remove = useAction('environments.delete')
  const isOn = definition?.enabled !== false
  return (
    <div className={`${layout.row} ${styles.environment}`} data-environment={name}>
      <Switch
        size="xs"
        aria-label={`${name} is ${isOn ? 'on' : 'off'}`}
        checked={isOn}
        disabled={definition === null || toggle.isPending}
        onChange={({ currentTarget: { checked } }) =>
          toggle.mutate({ name, definition: { enabled: checked ? null : false } })
        }
      />
      <span className={styles.path}>
        <span className={styles.name}>
          <b>{name}</b> <Tag>{String(definition?.type ?? 'unreadable')}</Tag>
        </span>
        <code className="cut">{whatOf(definition)}</code>
      </span>
      <span className="muted small">
        <Age at={updated_at} />
      </span>
      <Group gap={8}>
        <TinyButton onClick={onEdit} aria-label={`Edit ${name}`}>
          Edit
        </TinyButton>
        <Confirmed
          word="Delete"
          sure={`Delete ${name}: what it started goes on`}
          onDo={() => remove.mutate({ name })}
        />
      </Group>
      <Failed error={toggle.error ?? remove.error} />
    </div>
  )
}

/** The program or the address that it uses. */
function whatOf(definition: Environment['definition']): string {
  const { exec, config } = fieldsOf(definition)
  const { exec: command, command: line, url } = fieldsOf(config)
  const parts = listOf(exec ?? command ?? line ?? url)
  return parts.length === 0 ? 'the key that encrypted it is gone' : parts.join(' ')
}

function EnvironmentEditor({
  environment,
  onClose,
}: Readonly<{ environment: Partial<Environment>; onClose: () => void }>) {
  const { edition } = useCaller()
  const isNew = environment.name === undefined
  const [name, setName] = useState(environment.name ?? '')
  const [draft, setDraft] = useState<Fields>(
    environment.definition ??
      (edition === 'standard' ? { type: 'http', config: { url: '' } } : { type: 'process', exec: [] }),
  )
  const save = useAction(isNew ? 'environments.create' : 'environments.update', { onSuccess: onClose })
  const problems = problemsOf(save.error)
  return (
    <Modal opened onClose={onClose} title={isNew ? 'New environment' : `Environment ${name}`} size="lg">
      <div className={layout.fields}>
        <TextInput
          label="Name"
          value={name}
          disabled={!isNew}
          error={problemAt(problems, 'name')}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          required
        />
        <DefinitionFields draft={draft} onChange={setDraft} problems={problems} />
        <Button
          size="xs"
          className={layout.left ?? ''}
          loading={save.isPending}
          onClick={() =>
            save.mutate(unchecked({ name, definition: updateTo(draft, environment.definition ?? {}) }))
          }
        >
          Save the environment
        </Button>
        <Failed error={save.error} />
      </div>
    </Modal>
  )
}

/** What the environment starts. Another type has other fields. */
function DefinitionFields({
  draft,
  onChange,
  problems,
}: Readonly<{ draft: Fields; onChange: (draft: Fields) => void; problems: Problems }>) {
  const { edition } = useCaller()
  return (
    <>
      <SegmentedControl
        size="xs"
        className={layout.left ?? ''}
        aria-label="Type"
        data={['process', 'command', 'http'].map((type) => ({
          value: type,
          label: type,
          disabled: type !== 'http' && edition === 'standard',
        }))}
        value={textOf(draft.type) || 'process'}
        onChange={(type) => onChange(type === 'process' ? { type, exec: [] } : { type, config: {} })}
      />
      {draft.type === 'process' ? (
        <Textarea
          label="Program and arguments, one per line"
          description="It goes on running, and is not started again while it does."
          autosize
          minRows={3}
          styles={MONO}
          value={listOf(draft.exec).join('\n')}
          error={problemAt(problems, 'exec') ?? problemAt(problems, 'definition')}
          onChange={({ currentTarget }) =>
            onChange({ ...draft, exec: currentTarget.value.split('\n').filter((line) => line !== '') })
          }
        />
      ) : (
        <ObjectText
          key={String(draft.type)}
          label="Config"
          description={
            draft.type === 'http'
              ? 'The config of an http hook: {"url": "https://…"}'
              : 'The config of a command hook.'
          }
          rows={4}
          value={fieldsOf(draft.config)}
          onChange={(config) => onChange(withField(draft, 'config', config))}
        />
      )}
    </>
  )
}
