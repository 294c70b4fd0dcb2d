import { Button, PasswordInput, Select, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Methods } from '../../../../src/client/index.ts'
import { call } from '../../gateway/call.ts'
import { Confirmed } from '../../parts/confirmed.tsx'
import { Empty, Failed, Loaded, layout, Panel } from '../../parts/layout.tsx'
import { CopyCommand } from '../../parts/values.tsx'
import styles from './settings.module.css'

type ProviderName = Methods['providers.set']['params']['name']
const names: readonly ProviderName[] = ['anthropic', 'openai', 'google', 'openai-compatible']

/** The models that prompt hooks ask. */
export function Providers() {
  const queries = useQueryClient()
  const [name, setName] = useState<ProviderName>('anthropic')
  const [apiKey, setKey] = useState('')
  const [baseUrl, setUrl] = useState('')
  const [defaultModel, setModel] = useState('')
  const query = useQuery({
    queryKey: ['providers'],
    queryFn: ({ signal }) => call('providers.list', {}, signal),
  })
  const settled = { onSettled: () => queries.invalidateQueries({ queryKey: ['providers'] }) }
  const set = useMutation({
    ...settled,
    mutationFn: () =>
      call('providers.set', {
        name,
        ...(apiKey === '' ? {} : { apiKey }),
        ...(baseUrl === '' ? {} : { baseUrl }),
        ...(defaultModel === '' ? {} : { defaultModel }),
      }),
    onSuccess: () => setKey(''),
  })
  const remove = useMutation({
    ...settled,
    mutationFn: (provider: ProviderName) => call('providers.delete', { name: provider }),
  })
  const failure = set.error ?? remove.error
  return (
    <Panel title="Model providers" aside={<CopyCommand text="hookhelm providers list" />}>
      <div className={styles.form}>
        <Select
          label="Provider"
          data={[...names]}
          value={name}
          allowDeselect={false}
          onChange={(value) => setName(names.find((known) => known === value) ?? 'anthropic')}
        />
        <PasswordInput
          label="API key"
          autoComplete="off"
          value={apiKey}
          onChange={({ currentTarget }) => setKey(currentTarget.value)}
          w={220}
        />
        <TextInput
          label="Address"
          value={baseUrl}
          onChange={({ currentTarget }) => setUrl(currentTarget.value)}
        />
        <TextInput
          label="Default model"
          value={defaultModel}
          onChange={({ currentTarget }) => setModel(currentTarget.value)}
        />
        <Button loading={set.isPending} onClick={() => set.mutate()}>
          Save
        </Button>
      </div>
      {failure === null ? null : <Failed error={failure} />}
      <Loaded query={query} rows={2}>
        {({ providers }) =>
          providers.length === 0 ? (
            <Empty title="No provider">Prompt hooks need one to ask a model.</Empty>
          ) : (
            providers.map((provider) => (
              <div key={provider.name} className={`${layout.row} ${styles.row}`}>
                <span>
                  {provider.name} <span className={styles.muted}>{provider.baseUrl ?? ''}</span>
                </span>
                <span className={styles.muted}>{provider.apiKey ?? 'no key'}</span>
                <span className={styles.muted}>{provider.defaultModel ?? ''}</span>
                <Confirmed
                  word="Delete"
                  canUndo
                  sure={`Delete ${provider.name}: prompt hooks that use it fail`}
                  onDo={() => {
                    const known = names.find((each) => each === provider.name)
                    if (known !== undefined) remove.mutate(known)
                  }}
                />
              </div>
            ))
          )
        }
      </Loaded>
    </Panel>
  )
}
