import { SegmentedControl, Select } from '@mantine/core'
import { runHookTypes, runHookVerbs } from '../../../../src/runs/hooks/run-hook-points.ts'
import { useMethod } from '../../gateway/use-method.ts'
import {
  type Draft,
  NumberField,
  ObjectText,
  SuggestedField,
  SwitchField,
  TextField,
} from '../../parts/form/draft-fields.tsx'
import { type Fields, fieldsOf, textOf, unlessEmpty, withField } from '../../parts/form/fields.ts'
import { layout } from '../../parts/layout.tsx'
import styles from './blueprint-page.module.css'

interface RunHookFormProps {
  readonly entry: Fields
  readonly onChange: (entry: Fields) => void
  /** Why nothing may wait for it here; undefined if that is allowed. */
  readonly whyAwaited?: string | undefined
}

/** One hook of a run: the agent that it starts or the address that it calls, and what its failure means. */
export function RunHookForm({ entry, onChange, whyAwaited }: RunHookFormProps) {
  const { data } = useMethod('blueprints.list')
  const agents = (data?.blueprints ?? []).map(({ name }) => name)
  const kind = textOf(entry.type) || 'agent'
  const draft: Draft = {
    value: entry,
    set: (name, value) => onChange(withField(entry, name, value)),
    problemOf: () =>
      isUnknown(entry.agent_name, agents) ? 'there is no agent with this name yet' : undefined,
  }
  return (
    <>
      <SegmentedControl
        size="xs"
        className={layout.left ?? ''}
        aria-label="Type"
        data={[...runHookTypes]}
        value={kind}
        onChange={(type) => onChange(withType(entry, type))}
      />
      {kind === 'http' ? (
        <HttpFields draft={draft} />
      ) : (
        <SuggestedField
          draft={draft}
          name="agent_name"
          label="Agent"
          description="It gets the run as its parameters, and its result is the answer."
          data={agents}
          required
        />
      )}
      <FailureFields draft={draft} />
      <SwitchField
        draft={draft}
        name="mode"
        on="async"
        label="Run in the background (async)"
        description={whyAwaited}
        disabled={whyAwaited !== undefined && entry.mode !== 'async'}
      />
    </>
  )
}

/** What a failure means, and how long the hook may take. */
function FailureFields({ draft }: Readonly<{ draft: Draft }>) {
  return (
    <div className={styles.pair}>
      <div>
        <span className={styles.label}>If it fails</span>
        <SegmentedControl
          size="xs"
          fullWidth
          aria-label="If it fails"
          data={['block', 'continue', 'ignore']}
          value={textOf(draft.value.on_error) || 'block'}
          onChange={(policy) => draft.set('on_error', policy)}
        />
      </div>
      <NumberField
        draft={draft}
        name="timeout_seconds"
        label="Timeout in seconds"
        placeholder="300"
        min={1}
        max={600}
      />
    </div>
  )
}

function HttpFields({ draft }: Readonly<{ draft: Draft }>) {
  return (
    <>
      <div className={styles.pair}>
        <TextField
          draft={draft}
          name="url"
          label="Address"
          placeholder="https://example.com/validate"
          required
        />
        <Select
          label="Method"
          data={[...runHookVerbs]}
          placeholder="POST"
          value={textOf(draft.value.method) || null}
          onChange={(method) => draft.set('method', method ?? undefined)}
          clearable
        />
      </div>
      <ObjectText
        label="Headers"
        description="A value may be secret:NAME, or use ${NAME} of the variables that an administrator allows."
        rows={3}
        value={fieldsOf(draft.value.headers)}
        onChange={(headers) => draft.set('headers', unlessEmpty(headers))}
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
