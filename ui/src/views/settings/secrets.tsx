import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../gateway/call.ts'
import { Confirmed } from '../../parts/confirmed.tsx'
import { Empty, Failed, Loaded, layout, Panel } from '../../parts/layout.tsx'
import { Age, CopyCommand } from '../../parts/values.tsx'
import styles from './settings.module.css'

/** Names only: a value can be written, never read. */
export function Secrets() {
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const [value, setValue] = useState('')
  const query = useQuery({ queryKey: ['secrets'], queryFn: ({ signal }) => call('secrets.list', {}, signal) })
  const settled = { onSettled: () => queries.invalidateQueries({ queryKey: ['secrets'] }) }
  const set = useMutation({
    ...settled,
    mutationFn: () => call('secrets.set', { name, value }),
    onSuccess: () => {
      setName('')
      setValue('')
    },
  })
  const remove = useMutation({
    ...settled,
    mutationFn: (secret: string) => call('secrets.delete', { name: secret }),
  })
  const failure = set.error ?? remove.error
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
        <Button disabled={name === '' || value === ''} loading={set.isPending} onClick={() => set.mutate()}>
          Store
        </Button>
      </div>
      {failure === null ? null : <Failed error={failure} />}
      <Loaded query={query} rows={3}>
        {({ secrets }) =>
          secrets.length === 0 ? (
            <Empty title="No secret">Webhooks and providers refer to secrets by name.</Empty>
          ) : (
            secrets.map(({ name: secret, updated_at }) => (
              <div key={secret} className={`${layout.row} ${styles.row}`}>
                <code>{secret}</code>
                <span />
                <span className={styles.muted}>
                  set <Age at={updated_at} />
                </span>
                <Confirmed
                  word="Delete"
                  canUndo
                  sure={`Delete ${secret}: hooks that use it fail`}
                  onDo={() => remove.mutate(secret)}
                />
              </div>
            ))
          )
        }
      </Loaded>
    </Panel>
  )
}
