import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useAction } from '../../gateway/use-action.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { Empty, Failed, LoadedList, Panel } from '../../parts/layout.tsx'
import { Age, CopyCommand } from '../../parts/values.tsx'
import styles from './settings.module.css'
import { StoredRow } from './stored-row.tsx'

/** Names only: a value can be written, never read. */
export function Secrets() {
  const [name, setName] = useState('')
  const [value, setValue] = useState('')
  const query = useMethod('secrets.list')
  const set = useAction('secrets.set', {
    onSuccess: () => {
      setName('')
      setValue('')
    },
  })
  const remove = useAction('secrets.delete')
  return (
    <Panel
      title="Secrets"
      aside={
        <>
          used as <code>secret:NAME</code> · <CopyCommand text="hookhelm secrets list" />
        </>
      }
    >
      <div className={styles.form}>
        <TextInput label="Name" value={name} onChange={({ currentTarget }) => setName(currentTarget.value)} />
        <PasswordInput
          label="Value"
          autoComplete="off"
          value={value}
          onChange={({ currentTarget }) => setValue(currentTarget.value)}
          w={260}
        />
        <Button
          disabled={name === '' || value === ''}
          loading={set.isPending}
          onClick={() => set.mutate({ name, value })}
        >
          Store
        </Button>
      </div>
      <Failed error={set.error ?? remove.error} />
      <LoadedList
        query={query}
        rows={3}
        of={({ secrets }) => secrets}
        empty={<Empty title="No secret">Webhooks and providers refer to secrets by name.</Empty>}
      >
        {(secret) => (
          <StoredRow
            key={secret.name}
            sure={`Delete ${secret.name}: hooks that use it fail`}
            onDelete={() => remove.mutate({ name: secret.name })}
          >
            <code>{secret.name}</code>
            <span />
            <span className="muted">
              set <Age at={secret.updated_at} />
            </span>
          </StoredRow>
        )}
      </LoadedList>
    </Panel>
  )
}
