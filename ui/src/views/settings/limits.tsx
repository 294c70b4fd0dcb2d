import { Button, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../gateway/call.ts'
import { Failed, Loaded, layout, Panel, Tag } from '../../parts/layout.tsx'
import { CopyCommand } from '../../parts/values.tsx'
import styles from './settings.module.css'

/** Every setting in force, and where its value comes from. */
export function Limits() {
  const query = useQuery({
    queryKey: ['settings'],
    queryFn: ({ signal }) => call('settings.get', {}, signal),
  })
  return (
    <Panel
      title="Limits, outbound addresses and retention"
      aside={<CopyCommand text="hookhelm settings get" />}
    >
      <Loaded query={query} rows={8}>
        {({ settings }) =>
          Object.entries(settings).map(([name, { value, from }]) => (
            <Setting key={`${name} ${JSON.stringify(value)}`} name={name} value={value} from={from} />
          ))
        }
      </Loaded>
    </Panel>
  )
}

interface SettingProps {
  readonly name: string
  readonly value: unknown
  readonly from: string
}

function Setting({ name, value, from }: SettingProps) {
  const queries = useQueryClient()
  const [text, setText] = useState(JSON.stringify(value) ?? '')
  const isEdited = text !== (JSON.stringify(value) ?? '')
  const set = useMutation({
    mutationFn: (given: unknown) => call('settings.set', { settings: { [name]: given } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['settings'] }),
  })
  const problem = readable(text)
  return (
    <div className={`${layout.row} ${styles.setting}`}>
      <span>
        <code>{name}</code> <Tag>{from}</Tag>
      </span>
      <TextInput
        aria-label={name}
        value={text}
        error={problem}
        styles={{ input: { fontFamily: 'var(--mono)', fontSize: '12.5px' } }}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      <Button
        variant="default"
        size="xs"
        disabled={!isEdited || problem !== undefined}
        loading={set.isPending}
        onClick={() => set.mutate(JSON.parse(text))}
      >
        Save
      </Button>
      {set.error === null ? null : <Failed error={set.error} />}
    </div>
  )
}

function readable(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch {
    return 'write it as JSON: 30, "text", ["a", "b"], null for the inherited value'
  }
}
