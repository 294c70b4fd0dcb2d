import { Group, Select, Switch } from '@mantine/core'
import { IconArrowUp, IconTrash } from '@tabler/icons-react'
import { useMethod } from '../../gateway/use-method.ts'
import {
  type Draft,
  LongTextField,
  NumberField,
  ObjectText,
  SuggestedField,
  SwitchField,
  TextField,
  TextsField,
} from '../../parts/form/draft-fields.tsx'
import { type Fields, fieldsOf, textOf, withField } from '../../parts/form/fields.ts'
import { IconAction } from '../../parts/form/icon-action.tsx'
import { MONO } from '../../theme.ts'
import styles from '../recovery/recovery.module.css'
import { actionTitle, actionTitles, type Problems, problemAt } from './rule-draft.ts'

interface ActionFormProps {
  readonly action: Fields
  readonly position: number
  readonly isReadOnly: boolean
  readonly problems: Problems
  readonly onChange: (action: Fields) => void
  readonly onMove: (by: number) => void
  readonly onRemove: () => void
}

/** One action: its type, and the fields of that type. */
export function ActionForm(props: ActionFormProps) {
  const { action, position, isReadOnly, problems, onChange, onMove, onRemove } = props
  const draft: Draft = {
    value: action,
    set: (name, value) => onChange(withField(action, name, value)),
    isReadOnly,
    problemOf: (name) => problemAt(problems, `actions.${position}.${name}`),
  }
  const number = position + 1
  return (
    <fieldset className={styles.action} aria-label={`Action ${number}: ${actionTitle(action.type)}`}>
      <Group justify="space-between" gap={8}>
        <Select
          aria-label={`Type of action ${number}`}
          data={Object.entries(actionTitles).map(([value, label]) => ({ value, label }))}
          value={textOf(action.type) || null}
          disabled={isReadOnly}
          error={problems.get(`actions.${position}.type`)}
          allowDeselect={false}
          onChange={(type) => onChange(withType(action, type ?? 'notify_team'))}
        />
        <Group gap={4}>
          <Switch
            size="xs"
            label="on"
            aria-label={`Action ${number} is on`}
            checked={action.enabled !== false}
            disabled={isReadOnly}
            onChange={({ currentTarget }) => draft.set('enabled', currentTarget.checked ? undefined : false)}
          />
          <IconAction
            icon={IconArrowUp}
            label={`Move action ${number} up`}
            isDisabled={isReadOnly || position === 0}
            onDo={() => onMove(-1)}
          />
          <IconAction
            icon={IconTrash}
            label={`Remove action ${number}`}
            isDisabled={isReadOnly}
            onDo={onRemove}
          />
        </Group>
      </Group>
      <ActionFields draft={draft} />
      <div className={styles.two}>
        <TextField draft={draft} name="id" label="Id of the action" />
        <NumberField
          draft={draft}
          name="dedupWindowMs"
          label="Dedup window of the action in ms"
          clampBehavior="none"
        />
      </div>
    </fieldset>
  )
}

/** Another type has other fields; those that every action has stay. */
function withType({ id, enabled, dedupWindowMs }: Fields, type: string): Fields {
  const kept = Object.entries({ id, enabled, dedupWindowMs }).filter(([, value]) => value !== undefined)
  const needed = type === 'run_command' || type === 'call_webhook' ? { config: {} } : {}
  return { type, ...needed, ...Object.fromEntries(kept) }
}

function ActionFields({ draft }: Readonly<{ draft: Draft }>) {
  switch (draft.value.type) {
    case 'spawn_fallback_agent':
      return <FallbackFields draft={draft} />
    case 'notify_team':
      return <NotifyFields draft={draft} />
    case 'warm_remote_capacity':
      return (
        <SwitchField
          draft={draft}
          name="createDefaultEnvironmentIfMissing"
          on={true}
          label="Create a local runner if there is no environment"
        />
      )
    case 'retry_run':
      return (
        <NumberField
          draft={draft}
          name="maxRetries"
          label="Maximum repeats"
          placeholder="1"
          clampBehavior="none"
        />
      )
    case 'run_command':
    case 'call_webhook':
      return <HandlerFields draft={draft} />
    default:
      return null
  }
}

/** A long text in which the action replaces names by values of the event. */
function Template({
  draft,
  name,
  label,
}: {
  readonly draft: Draft
  readonly name: string
  readonly label: string
}) {
  return (
    <LongTextField
      draft={draft}
      name={name}
      label={label}
      description="Variables: $EVENT_NAME $OUTCOME $RULE_ID $TASK_SUBJECT $TASK_DESCRIPTION $TASK_ID $ERROR $PAYLOAD_JSON."
      minRows={2}
      maxRows={12}
      spellCheck={false}
      styles={MONO}
    />
  )
}

function FallbackFields({ draft }: Readonly<{ draft: Draft }>) {
  const { data } = useMethod('blueprints.list')
  return (
    <>
      <div className={styles.two}>
        <SuggestedField
          draft={draft}
          name="agentType"
          label="Agent"
          placeholder="general-purpose"
          data={(data?.blueprints ?? []).map(({ name }) => name)}
        />
        <SuggestedField
          draft={draft}
          name="model"
          label="Model"
          placeholder="the model of the agent"
          data={['haiku', 'sonnet', 'opus']}
        />
      </div>
      <TextField draft={draft} name="description" label="Description" />
      <Template draft={draft} name="promptTemplate" label="Prompt" />
    </>
  )
}

function NotifyFields({ draft }: Readonly<{ draft: Draft }>) {
  const { data } = useMethod('teams.list')
  const teams = data?.teams ?? []
  const team = teams.find(({ name }) => name === draft.value.teamName)
  return (
    <>
      <div className={styles.two}>
        <SuggestedField
          draft={draft}
          name="teamName"
          label="Team"
          placeholder="the team of the event, or the default"
          data={teams.map(({ name }) => name)}
        />
        <TextsField
          draft={draft}
          name="recipients"
          label="Recipients"
          placeholder="all members"
          data={['*', ...(team?.members ?? []).map(({ name }) => name)]}
        />
      </div>
      <TextField draft={draft} name="summary" label="Summary" />
      <Template draft={draft} name="messageTemplate" label="Message" />
    </>
  )
}

function HandlerFields({ draft }: Readonly<{ draft: Draft }>) {
  return (
    <>
      <ObjectText
        label="Config"
        description={
          draft.value.type === 'run_command'
            ? 'The config of a command hook: {"exec": ["program", "argument"]}'
            : 'The config of an http hook: {"url": "https://…"}'
        }
        rows={3}
        value={fieldsOf(draft.value.config)}
        isDisabled={draft.isReadOnly === true}
        problem={draft.problemOf?.('config')}
        onChange={(config) => draft.set('config', config)}
      />
      <NumberField
        draft={draft}
        name="timeoutMs"
        label="Timeout in ms"
        placeholder="60000"
        clampBehavior="none"
      />
    </>
  )
}
