import { Button, Modal, SegmentedControl, Switch, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Methods } from '../../../../src/client/index.ts'
import { useCaller } from '../../frame/caller.ts'
import { call, callWithDraft } from '../../gateway/call.ts'
import { Confirmed } from '../../parts/confirmed.tsx'
import { fieldsOf, showControls } from '../../parts/format.ts'
import { Empty, Failed, Loaded, layout, Panel, Tag } from '../../parts/layout.tsx'
import { Age } from '../../parts/values.tsx'
import { type Fields, ObjectText, withField } from '../runs/parameter-form.tsx'
import styles from './recovery.module.css'
import { listOf, problemAt, problemsOf } from './rule-draft.ts'

type Environment = Methods['environments.list']['result']['environments'][number]

/** What starts runners when a rule warms up capacity, and whether rules may do so. */
export function Environments() {
  const [edited, setEdited] = useState<Partial<Environment>>()
  const query = useQuery({
    queryKey: ['environments'],
    queryFn: ({ signal }) => call('environments.list', {}, signal),
  })
  const newButton = (
    <Button variant="default" size="compact-sm" onClick={() => setEdited({})}>
      New environment
    </Button>
  )
  return (
    <div className={layout.stack}>
      <Permission />
      <Panel title="Environments" aside={newButton}>
        <Loaded query={query} rows={3}>
          {({ environments }) =>
            environments.length === 0 ? (
              <Empty title="No environment yet" action={newButton}>
                <code>warm_remote_capacity</code> starts runners through the first environment that is on: a
                process that the gateway keeps, a command, or an endpoint that scales a pool.
              </Empty>
            ) : (
              environments.map((environment) => (
                <EnvironmentRow
                  key={environment.name}
                  environment={environment}
                  onEdit={() => setEdited(environment)}
                />
              ))
            )
          }
        </Loaded>
      </Panel>
      {edited === undefined ? null : (
        <EnvironmentEditor environment={edited} onClose={() => setEdited(undefined)} />
      )}
    </div>
  )
}

/** The permission `allow_remote_sessions`. Without it, warming up is a recorded skip. */
function Permission() {
  const queries = useQueryClient()
  const query = useQuery({
    queryKey: ['settings'],
    queryFn: ({ signal }) => call('settings.get', {}, signal),
  })
  const change = useMutation({
    mutationFn: (allow_remote_sessions: boolean) =>
      call('settings.set', { settings: { allow_remote_sessions } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['settings'] }),
  })
  const isAllowed = query.data?.settings.allow_remote_sessions?.value === true
  return (
    <div className={styles.main}>
      <Switch
        label="Rules may start runners"
        checked={isAllowed}
        disabled={query.data === undefined || change.isPending}
        onChange={({ currentTarget }) => change.mutate(currentTarget.checked)}
      />
      <span className={styles.muted}>
        {isAllowed
          ? 'The setting allow_remote_sessions is on.'
          : 'Otherwise the action is skipped, and says so.'}
      </span>
      {change.error === null ? null : <Failed error={change.error} />}
    </div>
  )
}

interface EnvironmentRowProps {
  readonly environment: Environment
  readonly onEdit: () => void
}

function EnvironmentRow({ environment: { name, definition, updated_at }, onEdit }: EnvironmentRowProps) {
  const queries = useQueryClient()
  const settled = { onSettled: () => queries.invalidateQueries({ queryKey: ['environments'] }) }
  const toggle = useMutation({
    ...settled,
    mutationFn: (enabled: boolean) =>
      call('environments.update', { name, definition: { enabled: enabled ? null : false } }),
  })
  const remove = useMutation({ ...settled, mutationFn: () => call('environments.delete', { name }) })
  const failure = toggle.error ?? remove.error
  const isOn = definition?.enabled !== false
  return (
    <div className={`${layout.row} ${styles.environment}`} data-environment={name}>
      <Switch
        size="xs"
        aria-label={`${name} is ${isOn ? 'on' : 'off'}`}
        checked={isOn}
        disabled={definition === null || toggle.isPending}
        onChange={({ currentTarget }) => toggle.mutate(currentTarget.checked)}
      />
      <span className={styles.path}>
        <span className={styles.name}>
          <b>{showControls(name)}</b> <Tag>{String(definition?.type ?? 'unreadable')}</Tag>
        </span>
        <code className={styles.cut}>{showControls(whatOf(definition))}</code>
      </span>
      <span className={styles.muted}>
        <Age at={updated_at} />
      </span>
      <span className={styles.buttons}>
        <Button variant="default" size="compact-xs" onClick={onEdit} aria-label={`Edit ${name}`}>
          Edit
        </Button>
        <Confirmed
          word="Delete"
          sure={`Delete ${name}: what it started goes on`}
          onDo={() => remove.mutate()}
        />
      </span>
      {failure === null ? null : <Failed error={failure} />}
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

interface EnvironmentEditorProps {
  readonly environment: Partial<Environment>
  readonly onClose: () => void
}

function EnvironmentEditor({ environment, onClose }: EnvironmentEditorProps) {
  const queries = useQueryClient()
  const { edition } = useCaller()
  const isNew = environment.name === undefined
  const [name, setName] = useState(environment.name ?? '')
  const [draft, setDraft] = useState<Fields>(
    environment.definition ??
      (edition === 'standard' ? { type: 'http', config: { url: '' } } : { type: 'process', exec: [] }),
  )
  const save = useMutation({
    mutationFn: () =>
      isNew
        ? callWithDraft('environments.create', { name, definition: draft })
        : callWithDraft('environments.update', {
            name,
            definition: { ...clearedBy(environment.definition, draft), ...draft },
          }),
    onSuccess: onClose,
    onSettled: () => queries.invalidateQueries({ queryKey: ['environments'] }),
  })
  const problems = problemsOf(save.error)
  return (
    <Modal opened onClose={onClose} title={isNew ? 'New environment' : `Environment ${name}`} size="lg">
      <div className={styles.plainForm}>
        <TextInput
          label="Name"
          value={name}
          disabled={!isNew}
          error={problemAt(problems, 'name')}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          required
        />
        <SegmentedControl
          size="xs"
          className={styles.left ?? ''}
          aria-label="Type"
          data={['process', 'command', 'http'].map((type) => ({
            value: type,
            label: type,
            disabled: type !== 'http' && edition === 'standard',
          }))}
          value={typeof draft.type === 'string' ? draft.type : 'process'}
          onChange={(type) => setDraft(type === 'process' ? { type, exec: [] } : { type, config: {} })}
        />
        {draft.type === 'process' ? (
          <Textarea
            label="Program and arguments, one per line"
            description="It goes on running, and is not started again while it does."
            autosize
            minRows={3}
            styles={{ input: { fontFamily: 'var(--mono)', fontSize: '12.5px' } }}
            value={listOf(draft.exec).join('\n')}
            error={problemAt(problems, 'exec') ?? problemAt(problems, 'definition')}
            onChange={({ currentTarget }) =>
              setDraft({ ...draft, exec: currentTarget.value.split('\n').filter((line) => line !== '') })
            }
          />
        ) : (
          <ObjectText
            key={String(draft.type)}
            label="Config"
            description={
              draft.type === 'http' ? 'That of an http hook: {"url": "https://…"}' : 'That of a command hook.'
            }
            rows={4}
            value={fieldsOf(draft.config)}
            onChange={(config) => setDraft(withField(draft, 'config', config))}
          />
        )}
        <Button
          size="xs"
          className={styles.left ?? ''}
          loading={save.isPending}
          onClick={() => save.mutate()}
        >
          Save the environment
        </Button>
        {save.error === null ? null : <Failed error={save.error} />}
      </div>
    </Modal>
  )
}

/** Another type has other fields: null removes those that it has no more. */
function clearedBy(before: Environment['definition'] | undefined, draft: Fields): Fields {
  const gone = Object.keys(before ?? {}).filter((key) => !Object.hasOwn(draft, key))
  return Object.fromEntries(gone.map((key) => [key, null]))
}
