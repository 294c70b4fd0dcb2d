import { Button, Input, MultiSelect, NumberInput, Select, TagsInput, TextInput } from '@mantine/core'
import { fieldsOf } from '../../parts/format.ts'
import { eventNames } from '../hooks/hook-schema.ts'
import { ObjectText, withField } from '../runs/parameter-form.tsx'
import { ActionForm } from './action-form.tsx'
import styles from './recovery.module.css'
import { listOf, type Problems, problemAt, type RuleDraft } from './rule-draft.ts'

interface RuleFormProps {
  readonly draft: RuleDraft
  readonly onChange: (draft: RuleDraft) => void
  readonly isReadOnly: boolean
  readonly isNew: boolean
  readonly problems: Problems
}

const outcomes = ['success', 'failed', 'timeout', 'unknown']

/** The fields of a rule. What is wrong is shown at its field. */
export function RuleForm({ draft, onChange, isReadOnly, isNew, problems }: RuleFormProps) {
  const set = (name: string, value: unknown) => onChange(withField(draft, name, value))
  return (
    <>
      <TextInput
        label="Id"
        description={isNew ? 'Names the rule in firings and guards; it stays.' : undefined}
        value={typeof draft.id === 'string' ? draft.id : ''}
        disabled={isReadOnly || !isNew}
        error={problemAt(problems, 'id')}
        onChange={({ currentTarget }) => set('id', currentTarget.value)}
        required
      />
      <Trigger draft={draft} set={set} isReadOnly={isReadOnly} problems={problems} />
      <Condition draft={draft} set={set} isReadOnly={isReadOnly} problems={problems} />
      <div className={styles.three}>
        <Milliseconds name="cooldownMs" label="Cooldown in ms" {...{ draft, set, isReadOnly, problems }} />
        <Milliseconds name="dedupWindowMs" label="Dedup in ms" {...{ draft, set, isReadOnly, problems }} />
        <NumberInput
          label="Not at depth"
          placeholder="any"
          min={0}
          max={10}
          allowDecimal={false}
          disabled={isReadOnly}
          value={typeof draft.maxDepth === 'number' ? draft.maxDepth : ''}
          error={problemAt(problems, 'maxDepth')}
          onChange={(given) => set('maxDepth', given === '' ? undefined : Number(given))}
        />
      </div>
      <Actions draft={draft} set={set} isReadOnly={isReadOnly} problems={problems} />
    </>
  )
}

export interface RuleFieldsProps {
  readonly draft: RuleDraft
  readonly set: (name: string, value: unknown) => void
  readonly isReadOnly: boolean
  readonly problems: Problems
}

function Trigger({ draft, set, isReadOnly, problems }: RuleFieldsProps) {
  const trigger = fieldsOf(draft.trigger)
  const event = typeof trigger.event === 'string' ? trigger.event : ''
  const chosen = listOf(trigger.outcomes ?? trigger.outcome).map(String)
  const known = ['hook_failure', ...eventNames]
  return (
    <div className={styles.two}>
      <Select
        label="When"
        data={event === '' || known.includes(event) ? known : [event, ...known]}
        value={event === '' ? null : event}
        disabled={isReadOnly}
        error={problemAt(problems, 'trigger')}
        onChange={(value) => set('trigger', { ...trigger, event: value ?? '' })}
        allowDeselect={false}
        searchable
        required
      />
      <MultiSelect
        label="ends with"
        placeholder={chosen.length === 0 ? 'any outcome' : ''}
        data={outcomes}
        value={chosen}
        disabled={isReadOnly}
        onChange={(given) => set('trigger', withOutcomes(trigger, given))}
        clearable
      />
    </div>
  )
}

/** One outcome is `outcome`, several are `outcomes`: a rule has either. */
function withOutcomes(trigger: RuleDraft, given: readonly string[]): RuleDraft {
  const { outcome: _, outcomes: __, ...rest } = trigger
  if (given.length === 0) return rest
  return given.length === 1 ? { ...rest, outcome: given[0] } : { ...rest, outcomes: given }
}

const lists = [
  ['toolNames', 'The tool is one of', 'Edit'],
  ['taskStatuses', 'The task status is one of', 'failed'],
  ['errorIncludes', 'The error contains one of', 'timeout'],
] as const

function Condition({ draft, set, isReadOnly, problems }: RuleFieldsProps) {
  const condition = fieldsOf(draft.condition)
  const change = (name: string, value: unknown) => {
    const next = withField(condition, name, value)
    set('condition', Object.keys(next).length === 0 ? undefined : next)
  }
  return (
    <>
      {lists.map(([name, label, example]) => {
        const value = listOf(condition[name]).map(String)
        return (
          <TagsInput
            key={name}
            label={label}
            placeholder={value.length === 0 ? `any, for example ${example}` : ''}
            value={value}
            disabled={isReadOnly}
            error={problemAt(problems, `condition.${name}`)}
            onChange={(given) => change(name, given.length === 0 ? undefined : given)}
          />
        )
      })}
      <Input.Wrapper error={problemAt(problems, 'condition.eventFieldEquals')}>
        <ObjectText
          label="Fields of the payload have these values"
          description='Dot path → exact value: {"meta.source": "scheduler"}'
          rows={2}
          value={fieldsOf(condition.eventFieldEquals)}
          isDisabled={isReadOnly}
          onChange={(given) =>
            change('eventFieldEquals', Object.keys(given).length === 0 ? undefined : given)
          }
        />
      </Input.Wrapper>
    </>
  )
}

interface MillisecondsProps extends RuleFieldsProps {
  readonly name: string
  readonly label: string
}

function Milliseconds({ name, label, draft, set, isReadOnly, problems }: MillisecondsProps) {
  const value = draft[name]
  return (
    <NumberInput
      label={label}
      placeholder="30000"
      min={0}
      max={86_400_000}
      clampBehavior="none"
      allowDecimal={false}
      disabled={isReadOnly}
      value={typeof value === 'number' ? value : ''}
      error={problemAt(problems, name)}
      onChange={(given) => set(name, given === '' ? undefined : Number(given))}
    />
  )
}

/** What happens, in order. */
function Actions({ draft, set, isReadOnly, problems }: RuleFieldsProps) {
  const actions = listOf(draft.actions).map(fieldsOf)
  const save = (next: readonly RuleDraft[]) => set('actions', next)
  const move = (from: number, to: number) => {
    const next = actions.toSpliced(from, 1)
    const moved = actions[from]
    if (moved !== undefined) save(next.toSpliced(to, 0, moved))
  }
  return (
    <Input.Wrapper label="Actions, in order" labelElement="div" error={problems.get('actions')}>
      <div className={styles.actions}>
        {actions.map((action, index) => (
          <ActionForm
            // biome-ignore lint/suspicious/noArrayIndexKey: an action has no identity while it is edited
            key={`${index} ${String(action.type)}`}
            action={action}
            position={index}
            isLast={index === actions.length - 1}
            isReadOnly={isReadOnly}
            problems={problems}
            onChange={(next) => save(actions.with(index, next))}
            onMove={(by) => move(index, index + by)}
            onRemove={() => save(actions.toSpliced(index, 1))}
          />
        ))}
        {isReadOnly ? null : (
          <Button
            variant="default"
            size="compact-sm"
            className={styles.left ?? ''}
            onClick={() => save([...actions, { type: 'notify_team' }])}
          >
            Add an action
          </Button>
        )}
      </div>
    </Input.Wrapper>
  )
}
