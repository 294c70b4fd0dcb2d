import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { useAction } from '../../gateway/use-action.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { QuietButton } from '../../parts/buttons/quiet-button.ts'
import { readJson } from '../../parts/form/fields.ts'
import { Failed, Loaded, layout, Panel, Tag } from '../../parts/layout.tsx'
import { CopyCommand } from '../../parts/values.tsx'
import { MONO } from '../../theme.ts'
import styles from './settings.module.css'

/** Every setting in force, and where its value comes from. */
export function Limits() {
  const query = useMethod('settings.get')
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

function Setting({ name, value, from }: Readonly<{ name: string; value: unknown; from: string }>) {
  const [text, setText] = useState(JSON.stringify(value) ?? '')
  const isEdited = text !== (JSON.stringify(value) ?? '')
  const set = useAction('settings.set')
  const { value: given, problem } = readJson(text)
  return (
    <div className={`${layout.row} ${styles.setting}`}>
      <span>
        <code>{name}</code> <Tag>{from}</Tag>
      </span>
      <TextInput
        aria-label={name}
        value={text}
        error={problem && 'write it as JSON: 30, "text", ["a", "b"], null for the inherited value'}
        styles={MONO}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      <QuietButton
        disabled={!isEdited || problem !== undefined}
        loading={set.isPending}
        onClick={() => set.mutate({ settings: { [name]: given } })}
      >
        Save
      </QuietButton>
      <Failed error={set.error} />
    </div>
  )
}
