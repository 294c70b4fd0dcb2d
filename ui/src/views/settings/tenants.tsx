import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useCaller } from '../../frame/caller.ts'
import { chooseTenant } from '../../gateway/call.ts'
import { useAction } from '../../gateway/use-action.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { TinyButton } from '../../parts/buttons/quiet-button.ts'
import { Failed, LoadedList, Panel } from '../../parts/layout.tsx'
import { Age, CopyCommand } from '../../parts/values.tsx'
import styles from './settings.module.css'
import { StoredRow } from './stored-row.tsx'

export function Tenants() {
  const { edition, tenant: current } = useCaller()
  const [name, setName] = useState('')
  const query = useMethod('tenants.list', { limit: 200 })
  const create = useAction('tenants.create', { onSuccess: () => setName('') })
  const remove = useAction('tenants.delete')
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
          <Button disabled={name === ''} loading={create.isPending} onClick={() => create.mutate({ name })}>
            Create
          </Button>
        </div>
      )}
      <Failed error={create.error ?? remove.error} />
      <LoadedList query={query} rows={2} of={({ tenants }) => tenants} empty={null}>
        {(tenant) => (
          <StoredRow
            key={tenant.id}
            sure={`Delete ${tenant.name} and all its data`}
            onDelete={() => remove.mutate({ tenantId: tenant.id })}
          >
            <span>{tenant.name}</span>
            {tenant.id === current ? (
              <span className="muted">shown now</span>
            ) : (
              <TinyButton onClick={() => chooseTenant(tenant.id)}>Work for it</TinyButton>
            )}
            <span className="muted">
              created <Age at={tenant.created_at} />
            </span>
          </StoredRow>
        )}
      </LoadedList>
    </Panel>
  )
}
