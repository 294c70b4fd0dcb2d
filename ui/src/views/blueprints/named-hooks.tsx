import { Button, Group, Modal, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Methods } from '../../../../src/client/index.ts'
import { useMay } from '../../frame/caller.ts'
import { call, GatewayError } from '../../gateway/call.ts'
import { Confirmed } from '../../parts/confirmed.tsx'
import { Decision } from '../../parts/decision.tsx'
import { plural, showControls } from '../../parts/format.ts'
import { Empty, Failed, Loaded, layout, Panel, Tag } from '../../parts/layout.tsx'
import { CopyCommand } from '../../parts/values.tsx'
import { type Fields, fieldsOf } from '../runs/parameter-form.tsx'
import styles from './blueprints.module.css'
import type { StoredBlueprint } from './blueprints.tsx'
import { RunHookForm } from './run-hook-form.tsx'

type NamedHook = Methods['runHooks.list']['result']['hooks'][number]

interface NamedHooksProps {
  readonly blueprints: readonly StoredBlueprint[]
}

/** Hooks that are saved once under a name, and used by many blueprints. */
export function NamedHooks({ blueprints }: NamedHooksProps) {
  const maySave = useMay('admin')
  const [edited, setEdited] = useState<NamedHook | 'new'>()
  const query = useQuery({
    queryKey: ['run-hooks'],
    queryFn: ({ signal }) => call('runHooks.list', {}, signal),
    refetchInterval: 5_000,
  })
  const add = maySave ? (
    <Button variant="default" size="compact-sm" onClick={() => setEdited('new')}>
      New named hook
    </Button>
  ) : undefined
  return (
    <section aria-label="Named run hooks">
      <Panel title="Named run hooks" aside={add}>
        <Loaded query={query} rows={2}>
          {({ hooks }) =>
            hooks.length === 0 ? (
              <Empty title="No named hook yet">
                A named hook is written once and used by many blueprints, with <code>$ref</code>.
              </Empty>
            ) : (
              hooks.map((hook) => (
                <NamedHookRow
                  key={hook.name}
                  hook={hook}
                  users={usersOf(hook.name, blueprints)}
                  maySave={maySave}
                  onEdit={() => setEdited(hook)}
                />
              ))
            )
          }
        </Loaded>
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

interface NamedHookRowProps {
  readonly hook: NamedHook
  readonly users: readonly string[]
  readonly maySave: boolean
  readonly onEdit: () => void
}

function NamedHookRow({ hook, users, maySave, onEdit }: NamedHookRowProps) {
  const { name, definition } = hook
  const queries = useQueryClient()
  const remove = useMutation({
    mutationFn: () => call('runHooks.delete', { name }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['run-hooks'] }),
  })
  return (
    <div className={`${layout.row} ${styles.row}`} data-named-hook={name}>
      <div className={styles.link}>
        <span className={styles.name}>
          <b>{showControls(name)}</b>
          <Tag>{String(definition.type)}</Tag>
          <Tag>{users.length === 0 ? 'not used' : `used by ${plural(users.length, 'blueprint')}`}</Tag>
        </span>
        <span className={styles.about}>
          {showControls(String(definition.agent_name ?? definition.url))} · on_error{' '}
          {String(definition.on_error)}
        </span>
        {remove.error === null ? null : <DeleteRefused error={remove.error} users={users} />}
      </div>
      {maySave ? (
        <Group gap="xs">
          <Button variant="default" size="compact-xs" aria-label={`Edit ${name}`} onClick={onEdit}>
            Edit
          </Button>
          <Confirmed word="Delete" sure={`Delete ${name}`} onDo={() => remove.mutate()} />
        </Group>
      ) : null}
    </div>
  )
}

/** A hook that is in use stays; the way to its users is part of the answer. */
function DeleteRefused({ error, users }: { readonly error: Error; readonly users: readonly string[] }) {
  if (!(error instanceof GatewayError) || error.status !== 409 || users.length === 0)
    return <Failed error={error} />
  return (
    <p className={styles.refused} role="alert">
      <Decision outcome="block">It is in use.</Decision> Remove it first from{' '}
      {users.map((user, index) => (
        <span key={user}>
          {index === 0 ? '' : ', '}
          <Link to="/agents/$name" params={{ name: user }} search={{ tab: 'hooks' }}>
            {showControls(user)}
          </Link>
        </span>
      ))}
      .
    </p>
  )
}

const newHook: Fields = { type: 'agent', agent_name: '', on_error: 'block' }

interface NamedHookEditorProps {
  readonly stored: NamedHook | undefined
  readonly onClose: () => void
}

function NamedHookEditor({ stored, onClose }: NamedHookEditorProps) {
  const queries = useQueryClient()
  const [name, setName] = useState(stored?.name ?? '')
  const [draft, setDraft] = useState<Fields>(stored?.definition ?? newHook)
  const save = useMutation({
    mutationFn: () =>
      stored === undefined
        ? call('runHooks.create', { name, definition: draft })
        : call('runHooks.update', { name, definition: replacementOf(stored.definition, draft) }),
    onSuccess: async ({ warnings }) => {
      await queries.invalidateQueries({ queryKey: ['run-hooks'] })
      if (warnings.length === 0) onClose()
    },
  })
  const { error } = save
  const at = error instanceof GatewayError && error.at !== undefined ? `${error.at}: ` : ''
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
          save.mutate()
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
        {error === null ? null : <Failed error={new Error(`${at}${error.message}`)} />}
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

/** An update keeps fields that it does not name, so removed ones become null. */
function replacementOf(stored: Fields, draft: Fields): Fields {
  if (stored.type !== draft.type) return draft
  const removed = Object.keys(stored).filter((field) => !Object.hasOwn(draft, field))
  return { ...Object.fromEntries(removed.map((field) => [field, null])), ...draft }
}
