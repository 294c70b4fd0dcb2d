import { Group, Select, Switch } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconTrash } from '@tabler/icons-react'
import { useMethod } from '../../gateway/use-method.ts'
import { SmallButton } from '../../parts/buttons/quiet-button.ts'
import { type Fields, fieldsOf, listOf, textOf, withField } from '../../parts/form/fields.ts'
import { IconAction } from '../../parts/form/icon-action.tsx'
import { layout, Panel } from '../../parts/layout.tsx'
import styles from './blueprint-page.module.css'
import { hookPoints, type PointText } from './hook-points.ts'
import { RunHookForm } from './run-hook-form.tsx'

/** The hooks of an agent at every point of its runs, in the order in which they run. */
export function HooksTab({
  hooks,
  onChange,
  isReadOnly,
}: Readonly<{ hooks: Fields; onChange: (hooks: Fields) => void; isReadOnly: boolean }>) {
  const { data } = useMethod('runHooks.list')
  const named = (data?.hooks ?? []).map(({ name }) => name)
  return (
    <div className={layout.stack}>
      {hookPoints.map((text) => (
        <HookPoint
          key={text.point}
          text={text}
          named={named}
          entries={listOf(hooks[text.point]).map(fieldsOf)}
          isReadOnly={isReadOnly}
          onChange={(entries) => onChange(withField(hooks, text.point, toPoint(hooks[text.point], entries)))}
        />
      ))}
    </div>
  )
}

/** One hook stays an object if it was one, so that an agent without changes is saved as it was. */
function toPoint(before: unknown, entries: readonly Fields[]): unknown {
  if (entries.length === 0) return undefined
  return entries.length === 1 && !Array.isArray(before) ? entries[0] : entries
}

interface HookPointProps {
  readonly text: PointText
  readonly named: readonly string[]
  readonly entries: readonly Fields[]
  readonly onChange: (entries: readonly Fields[]) => void
  readonly isReadOnly: boolean
}

function HookPoint({ text, named, entries, onChange, isReadOnly }: HookPointProps) {
  const { point, title, about, isGate, mayBeAsync } = text
  const add = (entry: Fields) => onChange([...entries, entry])
  return (
    <section aria-label={point}>
      <Panel
        title={
          <Switch
            label={
              <>
                {title} <code>{point}</code>
              </>
            }
            checked={entries.length > 0}
            disabled={isReadOnly}
            onChange={({ currentTarget }) => onChange(currentTarget.checked ? [newEntry(isGate)] : [])}
          />
        }
      >
        <p className={styles.note}>{about}</p>
        {entries.map((entry, index) => (
          <HookEntry
            // biome-ignore lint/suspicious/noArrayIndexKey: hooks are known by their position
            key={`${entries.length}-${index}`}
            entry={entry}
            position={index}
            count={entries.length}
            whyAwaited={
              mayBeAsync ? undefined : 'Not possible here: this hook decides, so the run waits for it.'
            }
            named={named}
            isReadOnly={isReadOnly}
            onChange={(changed) => onChange(entries.map((old, at) => (at === index ? changed : old)))}
            onMove={(step) => onChange(entries.toSpliced(index, 1).toSpliced(index + step, 0, entry))}
            onRemove={() => onChange(entries.filter((_, at) => at !== index))}
          />
        ))}
        {entries.length === 0 || isReadOnly ? null : (
          <Group className={styles.add ?? ''} gap="xs">
            <SmallButton onClick={() => add(newEntry(isGate))}>Add a hook</SmallButton>
            <SmallButton onClick={() => add({ $ref: '' })}>Add a named hook</SmallButton>
          </Group>
        )}
      </Panel>
    </section>
  )
}

/** A gate blocks if it fails; what only listens does not. */
function newEntry(isGate: boolean): Fields {
  return { type: 'agent', agent_name: '', on_error: isGate ? 'block' : 'continue' }
}

interface HookEntryProps {
  readonly entry: Fields
  readonly position: number
  readonly count: number
  readonly whyAwaited: string | undefined
  readonly named: readonly string[]
  readonly isReadOnly: boolean
  readonly onChange: (entry: Fields) => void
  readonly onMove: (step: number) => void
  readonly onRemove: () => void
}

function HookEntry(props: HookEntryProps) {
  const { entry, position, count, named, isReadOnly, onChange, onMove, onRemove, whyAwaited } = props
  return (
    <fieldset className={styles.entry} disabled={isReadOnly}>
      <legend className={styles.legend}>{`Hook ${position + 1}`}</legend>
      <div className={styles.order}>
        <IconAction
          icon={IconArrowUp}
          label={`Move hook ${position + 1} up`}
          isDisabled={position === 0}
          onDo={() => onMove(-1)}
        />
        <IconAction
          icon={IconArrowDown}
          label={`Move hook ${position + 1} down`}
          isDisabled={position === count - 1}
          onDo={() => onMove(1)}
        />
        <IconAction icon={IconTrash} label={`Remove hook ${position + 1}`} onDo={onRemove} />
      </div>
      <div className={styles.fields}>
        {'$ref' in entry ? (
          <Select
            label="Named hook"
            description="Saved once under a name, used by many agents: see Agents → Blueprints"
            placeholder={named.length === 0 ? 'there is none yet' : 'choose one'}
            data={[...new Set([...named, textOf(entry.$ref)])].filter(Boolean)}
            value={textOf(entry.$ref) || null}
            onChange={(name) => onChange({ $ref: name ?? '' })}
            required
          />
        ) : (
          <RunHookForm entry={entry} onChange={onChange} whyAwaited={whyAwaited} />
        )}
      </div>
    </fieldset>
  )
}
