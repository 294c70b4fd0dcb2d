import { Button, Group, Modal, TextInput } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../frame/caller.ts'
import { GatewayError, type Result } from '../../gateway/call.ts'
import { useAction } from '../../gateway/use-action.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { Confirmed } from '../../parts/buttons/confirmed.tsx'
import { SmallButton, TinyButton } from '../../parts/buttons/quiet-button.ts'
import { Decision } from '../../parts/decision.tsx'
import { type Fields, fieldsOf, updateTo } from '../../parts/form/fields.ts'
import { plural } from '../../parts/format.ts'
import { Empty, Failed, LoadedList, layout, Panel, Tag } from '../../parts/layout.tsx'
import { CopyCommand } from '../../parts/values.tsx'
import styles from './blueprints.module.css'
import type { StoredBlueprint } from './blueprints.tsx'
import { RunHookForm } from './run-hook-form.tsx'

type NamedHook = Result<'runHooks.list'>['hooks'][number]

/** Hooks that are saved once under a name, and used by many blueprints. */
export function NamedHooks({ blueprints }: Readonly<{ blueprints: readonly StoredBlueprint[] }>) {
  const maySave = useMay('admin')
  const [edited, setEdited] = useState<NamedHook | 'new'>()
  const query = useMethod('runHooks.list', {}, { refetchInterval: 5_000 })
  const add = maySave ? <SmallButton onClick={() => setEdited('new')}>New named hook</SmallButton> : undefined
  return (
    <section aria-label="Named run hooks">
      <Panel title="Named run hooks" aside={add}>
        <LoadedList
          query={query}
          rows={2}
          of={({ hooks }) => hooks}
          empty={
            <Empty title="No named hook yet">
              A named hook is written once and used by many blueprints, with <code>$ref</code>.
            </Empty>
          }
        >
          {(hook) => (
            <NamedHookRow
              key={hook.name}
              hook={hook}
              users={usersOf(hook.name, blueprints)}
              maySave={maySave}
              onEdit={() => setEdited(hook)}
            />
          )}
        </LoadedList>
      </Panel>
      {edited === undefined ? null : (
        <NamedHookEditor
          stored={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
    </section>
  )
}

/** The blueprints that refer to a named hook. */
function usersOf(name: string, blueprints: readonly StoredBlueprint[]): readonly string[] {
  const refers = ({ definition }: StoredBlueprint) =>
    Object.values(fieldsOf(definition.hooks))
      .flat()
      .some((entry) => fieldsOf(entry).$ref === name)
  return blueprints.filter(refers).map((blueprint) => blueprint.name)
}

function NamedHookRow({
  hook,
  users,
  maySave,
  onEdit,
}: Readonly<{ hook: NamedHook; users: readonly string[]; maySave: boolean; onEdit: () => void }>) {
  const { name, definition } = hook
  const remove = useAction('runHooks.delete')
  return (
    <div className={`${layout.row} ${styles.row}`} data-named-hook={name}>
      <div className={styles.link}>
        <span className={styles.name}>
          <b>{name}</b>
          <Tag>{String(definition.type)}</Tag>
          <Tag>{users.length === 0 ? 'not used' : `used by ${plural(users.length, 'blueprint')}`}</Tag>
        </span>
        <span className="muted small cut">
          {String(definition.agent_name ?? definition.url)} · on_error {String(definition.on_error)}
        </span>
        <DeleteRefused error={remove.error} users={users} />
      </div>
      {maySave ? (
        <Group gap="xs">
          <TinyButton aria-label={`Edit ${name}`} onClick={onEdit}>
            Edit
          </TinyButton>
          <Confirmed word="Delete" sure={`Delete ${name}`} onDo={() => remove.mutate({ name })} />
        </Group>
      ) : null}
    </div>
  )
}

/** A hook that is in use stays; the way to its users is part of the answer. */
function DeleteRefused({
  error,
  users,
}: {
  readonly error: Error | null
  readonly users: readonly string[]
}) {
  if (!(error instanceof GatewayError) || error.status !== 409 || users.length === 0)
    return <Failed error={error} />
  return (
    <p className={styles.refused} role="alert">
      <Decision outcome="block">It is in use.</Decision> Remove it first from{' '}
      {users.map((user, index) => (
        <span key={user}>
          {index === 0 ? '' : ', '}
          <Link to="/agents/$name" params={{ name: user }} search={{ tab: 'hooks' }}>
            {user}
          </Link>
        </span>
      ))}
      .
    </p>
  )
}

const newHook: Fields = { type: 'agent', agent_name: '', on_error: 'block' }

function NamedHookEditor({
  stored,
  onClose,
}: Readonly<{ stored: NamedHook | undefined; onClose: () => void }>) {
  const [name, setName] = useState(stored?.name ?? '')
  const [draft, setDraft] = useState<Fields>(stored?.definition ?? newHook)
  const save = useAction(stored === undefined ? 'runHooks.create' : 'runHooks.update')
  // Another type has other fields, and keeps none.
  const isOfType = stored !== undefined && stored.definition.type === draft.type
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={stored === undefined ? 'New named hook' : `Named hook ${stored.name}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form
        className={layout.stack}
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate(
            { name, definition: isOfType ? updateTo(draft, stored.definition) : draft },
            { onSuccess: ({ warnings }) => (warnings.length === 0 ? onClose() : undefined) },
          )
        }}
      >
        <TextInput
          label="Name"
          description={
            stored === undefined ? 'Blueprints refer to it with $ref.' : 'The name of a saved hook stays.'
          }
          value={name}
          disabled={stored !== undefined}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          required
        />
        <RunHookForm entry={draft} onChange={setDraft} />
        <Failed error={save.error} isPlaceShown />
        {(save.data?.warnings ?? []).map((warning) => (
          <p key={warning} className={styles.refused}>
            <Decision outcome="opened">{warning}</Decision>
          </p>
        ))}
        <Group gap="xs">
          <Button type="submit" size="xs" loading={save.isPending}>
            {stored === undefined ? 'Save' : 'Save for every blueprint that uses it'}
          </Button>
          <CopyCommand
            text={
              stored === undefined
                ? 'hookhelm run-hooks create --name <name> --file hook.yaml'
                : `hookhelm run-hooks show ${stored.name}`
            }
          />
        </Group>
      </form>
    </Modal>
  )
}
