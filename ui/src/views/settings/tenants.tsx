import { Button, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useCaller } from '../../frame/caller.ts'
import { call, chooseTenant } from '../../gateway/call.ts'
import { Confirmed } from '../../parts/confirmed.tsx'
import { Failed, Loaded, layout, Panel } from '../../parts/layout.tsx'
import { Age, CopyCommand } from '../../parts/values.tsx'
import styles from './settings.module.css'

export function Tenants() {
  const queries = useQueryClient()
  const { edition, tenant } = useCaller()
  const [name, setName] = useState('')
  const query = useQuery({
    queryKey: ['tenants'],
    queryFn: ({ signal }) => call('tenants.list', { limit: 200 }, signal),
  })
  const settled = { onSettled: () => queries.invalidateQueries({ queryKey: ['tenants'] }) }
  const create = useMutation({
    ...settled,
    mutationFn: () => call('tenants.create', { name }),
    onSuccess: () => setName(''),
  })
  const remove = useMutation({
    ...settled,
    mutationFn: (tenantId: string) => call('tenants.delete', { tenantId }),
  })
  const failure = create.error ?? remove.error
  return (
    <Panel title="Tenants" aside={<CopyCommand text="hookhelm tenants list" />}>
      {edition === 'lite' ? (
        <p className={styles.note}>
          A second tenant needs the standard edition: hookhelm up --edition standard
        </p>
      ) : (
        <div className={styles.form}>
          <TextInput
            label="Name"
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <Button disabled={name === ''} loading={create.isPending} onClick={() => create.mutate()}>
            Create
          </Button>
        </div>
      )}
      {failure === null ? null : <Failed error={failure} />}
      <Loaded query={query} rows={2}>
        {({ tenants }) =>
          tenants.map(({ id, name: title, created_at }) => (
            <div key={id} className={`${layout.row} ${styles.row}`}>
              <span>{title}</span>
              {id === tenant ? (
                <span className={styles.muted}>shown now</span>
              ) : (
                <Button variant="default" size="compact-xs" onClick={() => chooseTenant(id)}>
                  Work for it
                </Button>
              )}
              <span className={styles.muted}>
                created <Age at={created_at} />
              </span>
              <Confirmed
                word="Delete"
                canUndo
                sure={`Delete ${title} and all its data`}
                onDo={() => remove.mutate(id)}
              />
            </div>
          ))
        }
      </Loaded>
    </Panel>
  )
}
