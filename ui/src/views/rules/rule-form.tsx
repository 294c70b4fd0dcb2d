import { Input, MultiSelect, Select } from '@mantine/core'
import { outcomes } from '../../../../src/engine/core/hook.ts'
import { SmallButton } from '../../parts/buttons/quiet-button.ts'
import { type Draft, NumberField, ObjectText, TextField, TextsField } from '../../parts/form/draft-fields.tsx'
import { type Fields, fieldsOf, listOf, textOf, unlessEmpty, withField } from '../../parts/form/fields.ts'
import { layout } from '../../parts/layout.tsx'
import { eventNames } from '../hook/hook-schema.ts'
import styles from '../recovery/recovery.module.css'
import { ActionForm } from './action-form.tsx'
import { type Problems, problemAt } from './rule-draft.ts'

export interface RuleFormProps {
  readonly draft: Fields
  readonly onChange: (draft: Fields) => void
  readonly isReadOnly: boolean
  readonly isNew: boolean
  readonly problems: Problems
}

/** The fields of a rule. What is wrong is shown at its field. */
export function RuleForm({ draft: value, onChange, isReadOnly, isNew, problems }: RuleFormProps) {
  const draft: Draft = {
    value,
    set: (name, given) => onChange(withField(value, name, given)),
    isReadOnly,
    problemOf: (name) => problemAt(problems, name),
  }
  return (
    <>
      <TextField
        draft={draft}
        name="id"
        label="Id"
        description={isNew ? 'Names the rule in firings and guards; it stays.' : undefined}
        disabled={!isNew}
        required
      />
      <Trigger draft={draft} />
      <Condition draft={draft} />
      <div className={styles.three}>
        <Milliseconds draft={draft} name="cooldownMs" label="Cooldown in ms" />
        <Milliseconds draft={draft} name="dedupWindowMs" label="Dedup in ms" />
        <NumberField draft={draft} name="maxDepth" label="Not at depth" placeholder="any" min={0} max={10} />
      </div>
      <Actions draft={draft} problems={problems} />
    </>
  )
}

function Trigger({ draft: { value, set, isReadOnly = false, problemOf } }: Readonly<{ draft: Draft }>) {
  const trigger = fieldsOf(value.trigger)
  const event = textOf(trigger.event)
  const chosen = listOf(trigger.outcomes ?? trigger.outcome).map(String)
  const known = ['hook_failure', ...eventNames]
  return (
    <div className={styles.two}>
      <Select
        label="When"
        data={event === '' || known.includes(event) ? known : [event, ...known]}
        value={event || null}
        disabled={isReadOnly}
        error={problemOf?.('trigger')}
        onChange={(given) => set('trigger', { ...trigger, event: given ?? '' })}
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
function withOutcomes(trigger: Fields, given: readonly string[]): Fields {
  const { outcome: _, outcomes: __, ...rest } = trigger
  if (given.length === 0) return rest
  return given.length === 1 ? { ...rest, outcome: given[0] } : { ...rest, outcomes: given }
}

const lists = [
  ['toolNames', 'The tool is one of', 'Edit'],
  ['taskStatuses', 'The task status is one of', 'failed'],
  ['errorIncludes', 'The error contains one of', 'timeout'],
] as const

function Condition({ draft }: Readonly<{ draft: Draft }>) {
  const { isReadOnly = false, problemOf } = draft
  const value = fieldsOf(draft.value.condition)
  const condition: Draft = {
    value,
    set: (name, given) => draft.set('condition', unlessEmpty(withField(value, name, given))),
    isReadOnly,
    problemOf: (name) => problemOf?.(`condition.${name}`),
  }
  return (
    <>
      {lists.map(([name, label, example]) => (
        <TextsField
          key={name}
          draft={condition}
          name={name}
          label={label}
          placeholder={`any, for example ${example}`}
        />
      ))}
      <ObjectText
        label="Fields of the payload have these values"
        description='Dot path → exact value: {"meta.source": "scheduler"}'
        rows={2}
        value={fieldsOf(value.eventFieldEquals)}
        isDisabled={isReadOnly}
        problem={problemOf?.('condition.eventFieldEquals')}
        onChange={(given) => condition.set('eventFieldEquals', unlessEmpty(given))}
      />
    </>
  )
}

function Milliseconds(props: { readonly draft: Draft; readonly name: string; readonly label: string }) {
  return <NumberField {...props} placeholder="30000" min={0} max={86_400_000} clampBehavior="none" />
}

/** What happens, in order. */
function Actions({ draft, problems }: Readonly<{ draft: Draft; problems: Problems }>) {
  const { isReadOnly = false } = draft
  const actions = listOf(draft.value.actions).map(fieldsOf)
  const save = (next: readonly Fields[]) => draft.set('actions', next)
  return (
    <Input.Wrapper label="Actions, in order" labelElement="div" error={problems.get('actions')}>
      <div className={styles.actions}>
        {actions.map((action, index) => (
          <ActionForm
            // biome-ignore lint/suspicious/noArrayIndexKey: an action has no identity while it is edited
            key={`${index} ${String(action.type)}`}
            action={action}
            position={index}
            isReadOnly={isReadOnly}
            problems={problems}
            onChange={(next) => save(actions.with(index, next))}
            onMove={(by) => save(actions.toSpliced(index, 1).toSpliced(index + by, 0, action))}
            onRemove={() => save(actions.toSpliced(index, 1))}
          />
        ))}
        {isReadOnly ? null : (
          <SmallButton
            className={layout.left ?? ''}
            onClick={() => save([...actions, { type: 'notify_team' }])}
          >
            Add an action
          </SmallButton>
        )}
      </div>
    </Input.Wrapper>
  )
}
