import { Button, Select, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Methods } from '../../../../src/client/index.ts'
import { call } from '../../gateway/call.ts'
import { Confirmed } from '../../parts/confirmed.tsx'
import { Empty, Failed, Loaded, layout, Panel } from '../../parts/layout.tsx'
import { Age, CopyCommand } from '../../parts/values.tsx'
import styles from './settings.module.css'

type Role = Methods['tokens.create']['params']['role']
const roles: readonly Role[] = ['agent', 'viewer', 'approver', 'operator', 'admin']

/** A token is shown once; the gateway keeps only its hash. */
export function Tokens() {
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('viewer')
  const query = useQuery({ queryKey: ['tokens'], queryFn: ({ signal }) => call('tokens.list', {}, signal) })
  const settled = { onSettled: () => queries.invalidateQueries({ queryKey: ['tokens'] }) }
  const create = useMutation({ ...settled, mutationFn: () => call('tokens.create', { name, role }) })
  const remove = useMutation({
    ...settled,
    mutationFn: (tokenId: string) => call('tokens.delete', { tokenId }),
  })
  const failure = create.error ?? remove.error
  return (
    <Panel title="Tokens" aside={<CopyCommand text="hookhelm tokens list" />}>
      <div className={styles.form}>
        <TextInput label="Name" value={name} onChange={({ currentTarget }) => setName(currentTarget.value)} />
        <Select
          label="Role"
          data={[...roles]}
          value={role}
          allowDeselect={false}
          onChange={(value) => setRole(roles.find((known) => known === value) ?? 'viewer')}
        />
        <Button disabled={name === ''} loading={create.isPending} onClick={() => create.mutate()}>
          Create
        </Button>
      </div>
      {create.data === undefined ? null : (
        <p className={styles.once} role="status">
          Copy it now, it is shown once: <code>{create.data.token}</code>
        </p>
      )}
      {failure === null ? null : <Failed error={failure} />}
      <Loaded query={query} rows={3}>
        {({ tokens }) =>
          tokens.length === 0 ? (
            <Empty title="No token" />
          ) : (
            tokens.map(({ id, name: title, role: given, created_at }) => (
              <div key={id} className={`${layout.row} ${styles.row}`}>
                <span>{title}</span>
                <span className={styles.muted}>{given}</span>
                <span className={styles.muted}>
                  created <Age at={created_at} />
                </span>
                <Confirmed
                  word="Revoke"
                  sure={`Revoke ${title}: its callers are refused`}
                  onDo={() => remove.mutate(id)}
                />
              </div>
            ))
          )
        }
      </Loaded>
    </Panel>
  )
}
