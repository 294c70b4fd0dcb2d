import {
  ActionIcon,
  Autocomplete,
  Button,
  Group,
  NumberInput,
  SegmentedControl,
  Select,
  Switch,
  TextInput,
} from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { runHookTypes } from '../../../../src/runs/run-hook-points.ts'
import { call } from '../../gateway/call.ts'
import { layout, Panel } from '../../parts/layout.tsx'
import { type Fields, fieldsOf, ObjectText, withField } from '../runs/parameter-form.tsx'
import styles from './blueprint-page.module.css'
import { hookPoints, type PointText } from './hook-points.ts'

interface HooksTabProps {
  readonly hooks: Fields
  readonly onChange: (hooks: Fields) => void
  readonly isReadOnly: boolean
}

/** The hooks of an agent at every point of its runs, in the order in which they run. */
export function HooksTab({ hooks, onChange, isReadOnly }: HooksTabProps) {
  const names = useNames()
  return (
    <div className={layout.stack}>
      {hookPoints.map((text) => (
        <HookPoint
          key={text.point}
          text={text}
          names={names}
          entries={entriesOf(hooks[text.point])}
          isReadOnly={isReadOnly}
          onChange={(entries) => onChange(withField(hooks, text.point, toPoint(hooks[text.point], entries)))}
        />
      ))}
    </div>
  )
}

interface Names {
  readonly agents: readonly string[]
  readonly named: readonly string[]
}

function useNames(): Names {
  const blueprints = useQuery({
    queryKey: ['blueprints'],
    queryFn: ({ signal }) => call('blueprints.list', {}, signal),
  })
  const hooks = useQuery({
    queryKey: ['run-hooks'],
    queryFn: ({ signal }) => call('runHooks.list', {}, signal),
  })
  return {
    agents: (blueprints.data?.blueprints ?? []).map(({ name }) => name),
    named: (hooks.data?.hooks ?? []).map(({ name }) => name),
  }
}

/** A point holds one hook or a list of hooks. */
function entriesOf(value: unknown): readonly Fields[] {
  if (value === undefined || value === null) return []
  return (Array.isArray(value) ? value : [value]).map(fieldsOf)
}

/** One hook stays an object if it was one, so that an agent without changes is saved as it was. */
function toPoint(before: unknown, entries: readonly Fields[]): unknown {
  if (entries.length === 0) return undefined
  return entries.length === 1 && !Array.isArray(before) ? entries[0] : entries
}

interface HookPointProps {
  readonly text: PointText
  readonly names: Names
  readonly entries: readonly Fields[]
  readonly onChange: (entries: readonly Fields[]) => void
  readonly isReadOnly: boolean
}

function HookPoint({ text, names, entries, onChange, isReadOnly }: HookPointProps) {
  const { point, title, about, isGate } = text
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
            isGate={isGate}
            names={names}
            isReadOnly={isReadOnly}
            onChange={(changed) => onChange(entries.map((old, at) => (at === index ? changed : old)))}
            onMove={(step) => onChange(moved(entries, index, step))}
            onRemove={() => onChange(entries.filter((_, at) => at !== index))}
          />
        ))}
        {entries.length === 0 || isReadOnly ? null : (
          <Group className={styles.add ?? ''} gap="xs">
            <Button variant="default" size="compact-sm" onClick={() => add(newEntry(isGate))}>
              Add a hook
            </Button>
            <Button variant="default" size="compact-sm" onClick={() => add({ $ref: '' })}>
              Add a named hook
            </Button>
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

function moved(entries: readonly Fields[], index: number, step: number): readonly Fields[] {
  const order = entries.slice()
  const [entry] = order.splice(index, 1)
  if (entry !== undefined) order.splice(index + step, 0, entry)
  return order
}

interface HookEntryProps {
  readonly entry: Fields
  readonly position: number
  readonly count: number
  readonly isGate: boolean
  readonly names: Names
  readonly isReadOnly: boolean
  readonly onChange: (entry: Fields) => void
  readonly onMove: (step: number) => void
  readonly onRemove: () => void
}

function HookEntry(props: HookEntryProps) {
  const { entry, position, count, names, isReadOnly, onChange, onMove, onRemove } = props
  const kind = '$ref' in entry ? '$ref' : typeof entry.type === 'string' ? entry.type : 'agent'
  return (
    <fieldset className={styles.entry} disabled={isReadOnly}>
      <legend className={styles.legend}>{`Hook ${position + 1}`}</legend>
      <div className={styles.order}>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`Move hook ${position + 1} up`}
          disabled={position === 0}
          onClick={() => onMove(-1)}
        >
          <IconArrowUp size={15} />
        </ActionIcon>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`Move hook ${position + 1} down`}
          disabled={position === count - 1}
          onClick={() => onMove(1)}
        >
          <IconArrowDown size={15} />
        </ActionIcon>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`Remove hook ${position + 1}`}
          onClick={onRemove}
        >
          <IconTrash size={15} />
        </ActionIcon>
      </div>
      <div className={styles.fields}>
        {kind === '$ref' ? (
          <Select
            label="Named hook"
            description="Saved once under a name, used by many agents: hookhelm run-hooks create"
            placeholder={names.named.length === 0 ? 'there is none yet' : 'choose one'}
            data={[...new Set([...names.named, textOf(entry.$ref)])].filter(Boolean)}
            value={textOf(entry.$ref) || null}
            onChange={(name) => onChange({ $ref: name ?? '' })}
            required
          />
        ) : (
          <InlineHook {...props} kind={kind} />
        )}
      </div>
    </fieldset>
  )
}

function InlineHook({ entry, isGate, names, onChange, kind }: HookEntryProps & { readonly kind: string }) {
  const set = (name: string, value: unknown) => onChange(withField(entry, name, value))
  const types = [...new Set([...runHookTypes, kind])]
  return (
    <>
      {types.length < 2 ? null : (
        <SegmentedControl
          size="xs"
          aria-label="Type"
          data={types}
          value={kind}
          onChange={(type) => onChange(withType(entry, type))}
        />
      )}
      {kind === 'http' ? <HttpFields entry={entry} set={set} /> : null}
      {kind === 'agent' ? (
        <Autocomplete
          label="Agent"
          description="It gets the run as its parameters, and its result is the answer."
          data={[...names.agents]}
          value={textOf(entry.agent_name)}
          error={
            isUnknown(entry.agent_name, names.agents) ? 'there is no agent with this name yet' : undefined
          }
          onChange={(name) => set('agent_name', name)}
          required
        />
      ) : null}
      <div className={styles.pair}>
        <div>
          <span className={styles.label}>If it fails</span>
          <SegmentedControl
            size="xs"
            fullWidth
            aria-label="If it fails"
            data={['block', 'continue', 'ignore']}
            value={textOf(entry.on_error) || 'block'}
            onChange={(policy) => set('on_error', policy)}
          />
        </div>
        <NumberInput
          label="Timeout in seconds"
          placeholder="300"
          min={1}
          max={600}
          allowDecimal={false}
          value={typeof entry.timeout_seconds === 'number' ? entry.timeout_seconds : ''}
          onChange={(given) => set('timeout_seconds', given === '' ? undefined : Number(given))}
        />
      </div>
      <Switch
        label="Nothing waits for it (async)"
        description={isGate ? 'Not here: this hook decides, so the run waits.' : undefined}
        disabled={isGate && entry.mode !== 'async'}
        checked={entry.mode === 'async'}
        onChange={({ currentTarget }) => set('mode', currentTarget.checked ? 'async' : undefined)}
      />
    </>
  )
}

interface HttpFieldsProps {
  readonly entry: Fields
  readonly set: (name: string, value: unknown) => void
}

function HttpFields({ entry, set }: HttpFieldsProps) {
  return (
    <>
      <div className={styles.pair}>
        <TextInput
          label="Address"
          placeholder="https://example.com/validate"
          value={textOf(entry.url)}
          onChange={({ currentTarget }) => set('url', currentTarget.value)}
          required
        />
        <Select
          label="Method"
          data={['POST', 'PUT', 'PATCH']}
          placeholder="POST"
          value={textOf(entry.method) || null}
          onChange={(method) => set('method', method ?? undefined)}
          clearable
        />
      </div>
      <ObjectText
        label="Headers"
        description="A value may use ${NAME} of the names that an administrator allows."
        rows={3}
        value={fieldsOf(entry.headers)}
        onChange={(headers) => set('headers', Object.keys(headers).length === 0 ? undefined : headers)}
      />
    </>
  )
}

/** Another type has other fields; the policy and the timeout stay. */
function withType({ on_error, timeout_seconds, mode }: Fields, type: string): Fields {
  const target = type === 'http' ? { url: '' } : { agent_name: '' }
  const kept = Object.entries({ on_error, timeout_seconds, mode }).filter(([, value]) => value !== undefined)
  return { type, ...target, ...Object.fromEntries(kept) }
}

function isUnknown(name: unknown, known: readonly string[]): boolean {
  return typeof name === 'string' && name !== '' && known.length > 0 && !known.includes(name)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
