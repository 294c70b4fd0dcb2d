import { Autocomplete, NumberInput, SegmentedControl, Select, Switch, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { runHookTypes, runHookVerbs } from '../../../../src/runs/run-hook-points.ts'
import { call } from '../../gateway/call.ts'
import { type Fields, fieldsOf, ObjectText, withField } from '../runs/parameter-form.tsx'
import styles from './blueprint-page.module.css'

interface RunHookFormProps {
  readonly entry: Fields
  readonly onChange: (entry: Fields) => void
  /** Why nothing may wait for it here; undefined if that is allowed. */
  readonly whyAwaited?: string | undefined
}

/** One hook of a run: the agent that it starts or the address that it calls, and what its failure means. */
export function RunHookForm({ entry, onChange, whyAwaited }: RunHookFormProps) {
  const agents = useAgentNames()
  const kind = typeof entry.type === 'string' ? entry.type : 'agent'
  const set = (name: string, value: unknown) => onChange(withField(entry, name, value))
  return (
    <>
      <SegmentedControl
        size="xs"
        className={styles.left ?? ''}
        aria-label="Type"
        data={[...runHookTypes]}
        value={kind}
        onChange={(type) => onChange(withType(entry, type))}
      />
      {kind === 'http' ? (
        <HttpFields entry={entry} set={set} />
      ) : (
        <Autocomplete
          label="Agent"
          description="It gets the run as its parameters, and its result is the answer."
          data={[...agents]}
          value={textOf(entry.agent_name)}
          error={isUnknown(entry.agent_name, agents) ? 'there is no agent with this name yet' : undefined}
          onChange={(name) => set('agent_name', name)}
          required
        />
      )}
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
        description={whyAwaited}
        disabled={whyAwaited !== undefined && entry.mode !== 'async'}
        checked={entry.mode === 'async'}
        onChange={({ currentTarget }) => set('mode', currentTarget.checked ? 'async' : undefined)}
      />
    </>
  )
}

function useAgentNames(): readonly string[] {
  const { data } = useQuery({
    queryKey: ['blueprints'],
    queryFn: ({ signal }) => call('blueprints.list', {}, signal),
  })
  return (data?.blueprints ?? []).map(({ name }) => name)
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
          data={[...runHookVerbs]}
          placeholder="POST"
          value={textOf(entry.method) || null}
          onChange={(method) => set('method', method ?? undefined)}
          clearable
        />
      </div>
      <ObjectText
        label="Headers"
        description="A value may be secret:NAME, or use ${NAME} of the variables that an administrator allows."
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
