import { Button, PasswordInput, Select } from '@mantine/core'
import { useState } from 'react'
import { type Params, unchecked } from '../../gateway/call.ts'
import { useAction } from '../../gateway/use-action.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { type Draft, TextField } from '../../parts/form/draft-fields.tsx'
import { type Fields, withField } from '../../parts/form/fields.ts'
import { Empty, Failed, LoadedList, Panel } from '../../parts/layout.tsx'
import { CopyCommand } from '../../parts/values.tsx'
import styles from './settings.module.css'
import { StoredRow } from './stored-row.tsx'

type ProviderName = Params<'providers.set'>['name']
const names: readonly ProviderName[] = ['anthropic', 'openai', 'google', 'openai-compatible']

/** The models that prompt hooks ask. */
export function Providers() {
  const [name, setName] = useState<ProviderName>('anthropic')
  const [apiKey, setKey] = useState('')
  const [others, setOthers] = useState<Fields>({})
  const query = useMethod('providers.list')
  const set = useAction('providers.set', { onSuccess: () => setKey('') })
  const remove = useAction('providers.delete')
  const draft: Draft = { value: others, set: (field, given) => setOthers(withField(others, field, given)) }
  return (
    <Panel title="Model providers" aside={<CopyCommand text="hookhelm providers list" />}>
      <div className={styles.form}>
        <Select
          label="Provider"
          data={names}
          value={name}
          allowDeselect={false}
          onChange={(chosen) => setName(chosen ?? name)}
        />
        <PasswordInput
          label="API key"
          autoComplete="off"
          value={apiKey}
          onChange={({ currentTarget }) => setKey(currentTarget.value)}
          w={220}
        />
        <TextField draft={draft} name="baseUrl" label="Address" />
        <TextField draft={draft} name="defaultModel" label="Default model" />
        <Button
          loading={set.isPending}
          onClick={() => set.mutate({ ...others, name, apiKey: apiKey || undefined })}
        >
          Save
        </Button>
      </div>
      <Failed error={set.error ?? remove.error} />
      <LoadedList
        query={query}
        rows={2}
        of={({ providers }) => providers}
        empty={<Empty title="No provider">Prompt hooks need one to ask a model.</Empty>}
      >
        {(provider) => (
          <StoredRow
            key={provider.name}
            sure={`Delete ${provider.name}: prompt hooks that use it fail`}
            onDelete={() => remove.mutate(unchecked({ name: provider.name }))}
          >
            <span>
              {provider.name} <span className="muted">{provider.baseUrl ?? ''}</span>
            </span>
            <span className="muted">{provider.apiKey ?? 'no key'}</span>
            <span className="muted">{provider.defaultModel ?? ''}</span>
          </StoredRow>
        )}
      </LoadedList>
    </Panel>
  )
}
