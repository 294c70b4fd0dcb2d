import { Button, Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { type Role, roles } from '../../../../src/access/tenant-tables.ts'
import { useAction } from '../../gateway/use-action.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { Empty, Failed, LoadedList, Panel } from '../../parts/layout.tsx'
import { Age, CopyCommand } from '../../parts/values.tsx'
import styles from './settings.module.css'
import { StoredRow } from './stored-row.tsx'

/** A token is shown once; the gateway keeps only its hash. */
export function Tokens() {
  const [name, setName] = useState('')
  const [member, setMember] = useState('')
  const [role, setRole] = useState<Role>('viewer')
  const query = useMethod('tokens.list')
  const create = useAction('tokens.create')
  const remove = useAction('tokens.delete')
  return (
    <Panel title="Tokens" aside={<CopyCommand text="hookhelm tokens list" />}>
      <div className={styles.form}>
        <TextInput label="Name" value={name} onChange={({ currentTarget }) => setName(currentTarget.value)} />
        <Select
          label="Role"
          data={roles.filter((each) => each !== 'owner')}
          value={role}
          allowDeselect={false}
          onChange={(chosen) => setRole(chosen ?? role)}
        />
        <TextInput
          label="Member"
          placeholder="of the same name"
          value={member}
          onChange={({ currentTarget }) => setMember(currentTarget.value)}
        />
        <Button
          disabled={name === ''}
          loading={create.isPending}
          onClick={() => create.mutate({ name, role, member: member || undefined })}
        >
          Create
        </Button>
      </div>
      {create.data === undefined ? null : (
        <p className={styles.once} role="status">
          Copy it now, it is shown once: <code>{create.data.token}</code>
        </p>
      )}
      <Failed error={create.error ?? remove.error} />
      <LoadedList query={query} rows={3} of={({ tokens }) => tokens} empty={<Empty title="No token" />}>
        {(token) => (
          <StoredRow
            key={token.id}
            word="Revoke"
            canUndo={false}
            sure={`Revoke ${token.name}: its callers are refused`}
            onDelete={() => remove.mutate({ tokenId: token.id })}
          >
            <span>{token.name}</span>
            <span className="muted">{token.role}</span>
            <span className="muted">
              created <Age at={token.created_at} />
            </span>
          </StoredRow>
        )}
      </LoadedList>
    </Panel>
  )
}
