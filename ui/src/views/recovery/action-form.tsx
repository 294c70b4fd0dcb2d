import {
  ActionIcon,
  Autocomplete,
  Group,
  Input,
  NumberInput,
  Select,
  Switch,
  TagsInput,
  Textarea,
  TextInput,
} from '@mantine/core'
import { IconArrowUp, IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { call } from '../../gateway/call.ts'
import { fieldsOf } from '../../parts/format.ts'
import { ObjectText, withField } from '../runs/parameter-form.tsx'
import styles from './recovery.module.css'
import { actionTitle, actionTitles, listOf, type Problems, problemAt, type RuleDraft } from './rule-draft.ts'

interface ActionFormProps {
  readonly action: RuleDraft
  readonly position: number
  readonly isLast: boolean
  readonly isReadOnly: boolean
  readonly problems: Problems
  readonly onChange: (action: RuleDraft) => void
  readonly onMove: (by: number) => void
  readonly onRemove: () => void
}

/** One action: its type, and the fields of that type. */
export function ActionForm(props: ActionFormProps) {
  const { action, position, isReadOnly, problems, onChange, onMove, onRemove } = props
  const set = (name: string, value: unknown) => onChange(withField(action, name, value))
  const number = position + 1
  return (
    <fieldset className={styles.action} aria-label={`Action ${number}: ${actionTitle(action.type)}`}>
      <div className={styles.actionHead}>
        <Select
          aria-label={`Type of action ${number}`}
          data={Object.entries(actionTitles).map(([value, label]) => ({ value, label }))}
          value={typeof action.type === 'string' ? action.type : null}
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
            onChange={({ currentTarget }) => set('enabled', currentTarget.checked ? undefined : false)}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Move action ${number} up`}
            disabled={isReadOnly || position === 0}
            onClick={() => onMove(-1)}
          >
            <IconArrowUp size={15} />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Remove action ${number}`}
            disabled={isReadOnly}
            onClick={onRemove}
          >
            <IconTrash size={15} />
          </ActionIcon>
        </Group>
      </div>
      <ActionFields
        action={action}
        set={set}
        isReadOnly={isReadOnly}
        at={`actions.${position}`}
        problems={problems}
      />
      <div className={styles.two}>
        <Text
          name="id"
          label="Id of the action"
          {...{ action, set, isReadOnly, problems }}
          at={`actions.${position}`}
        />
        <Count
          name="dedupWindowMs"
          label="Own dedup window in ms"
          {...{ action, set, isReadOnly, problems }}
          at={`actions.${position}`}
        />
      </div>
    </fieldset>
  )
}

/** Another type has other fields; those that every action has stay. */
function withType({ id, enabled, dedupWindowMs }: RuleDraft, type: string): RuleDraft {
  const kept = Object.entries({ id, enabled, dedupWindowMs }).filter(([, value]) => value !== undefined)
  const needed = type === 'run_command' || type === 'call_webhook' ? { config: {} } : {}
  return { type, ...needed, ...Object.fromEntries(kept) }
}

interface FieldsProps {
  readonly action: RuleDraft
  readonly set: (name: string, value: unknown) => void
  readonly isReadOnly: boolean
  readonly problems: Problems
  /** The path of the action in the rule. */
  readonly at: string
}

function ActionFields(props: FieldsProps) {
  switch (props.action.type) {
    case 'spawn_fallback_agent':
      return <FallbackFields {...props} />
    case 'notify_team':
      return <NotifyFields {...props} />
    case 'warm_remote_capacity':
      return <WarmFields {...props} />
    case 'retry_run':
      return <Count name="maxRetries" label="At most so often" placeholder="1" {...props} />
    case 'run_command':
    case 'call_webhook':
      return <HandlerFields {...props} />
    default:
      return null
  }
}

const VARIABLES =
  'Knows $EVENT_NAME $OUTCOME $RULE_ID $TASK_SUBJECT $TASK_DESCRIPTION $TASK_ID $ERROR $PAYLOAD_JSON.'

function FallbackFields(props: FieldsProps) {
  const { data } = useQuery({
    queryKey: ['blueprints'],
    queryFn: ({ signal }) => call('blueprints.list', {}, signal),
  })
  const names = (data?.blueprints ?? []).map(({ name }) => name)
  return (
    <>
      <div className={styles.two}>
        <Choice name="agentType" label="Agent" placeholder="general-purpose" choices={names} {...props} />
        <Choice
          name="model"
          label="Model"
          placeholder="that of the agent"
          choices={['haiku', 'sonnet', 'opus']}
          {...props}
        />
      </div>
      <Text name="description" label="Description" {...props} />
      <Template name="promptTemplate" label="Prompt" {...props} />
    </>
  )
}

function NotifyFields(props: FieldsProps) {
  const { data } = useQuery({ queryKey: ['teams'], queryFn: ({ signal }) => call('teams.list', {}, signal) })
  const { action, set, isReadOnly, problems, at } = props
  const team = data?.teams.find(({ name }) => name === action.teamName)
  const recipients = listOf(action.recipients).map(String)
  return (
    <>
      <div className={styles.two}>
        <Choice
          name="teamName"
          label="Team"
          placeholder="that of the event, or the default"
          choices={(data?.teams ?? []).map(({ name }) => name)}
          {...props}
        />
        <TagsInput
          label="Recipients"
          placeholder={recipients.length === 0 ? 'all members' : ''}
          data={['*', ...(team?.members ?? []).map(({ name }) => name)]}
          value={recipients}
          disabled={isReadOnly}
          error={problemAt(problems, `${at}.recipients`)}
          onChange={(given) => set('recipients', given.length === 0 ? undefined : given)}
        />
      </div>
      <Text name="summary" label="Summary" {...props} />
      <Template name="messageTemplate" label="Message" {...props} />
    </>
  )
}

function WarmFields({ action, set, isReadOnly }: FieldsProps) {
  return (
    <Switch
      label="Create a local runner if there is no environment"
      checked={action.createDefaultEnvironmentIfMissing === true}
      disabled={isReadOnly}
      onChange={({ currentTarget }) =>
        set('createDefaultEnvironmentIfMissing', currentTarget.checked ? true : undefined)
      }
    />
  )
}

function HandlerFields(props: FieldsProps) {
  const { action, set, isReadOnly, problems, at } = props
  const isCommand = action.type === 'run_command'
  return (
    <>
      <Input.Wrapper error={problemAt(problems, `${at}.config`)}>
        <ObjectText
          label="Config"
          description={
            isCommand
              ? 'That of a command hook: {"exec": ["program", "argument"]}'
              : 'That of an http hook: {"url": "https://…"}'
          }
          rows={3}
          value={fieldsOf(action.config)}
          isDisabled={isReadOnly}
          onChange={(config) => set('config', config)}
        />
      </Input.Wrapper>
      <Count name="timeoutMs" label="Timeout in ms" placeholder="60000" {...props} />
    </>
  )
}

interface FieldProps extends FieldsProps {
  readonly name: string
  readonly label: string
  readonly placeholder?: string
}

function Text({ name, label, placeholder = '', action, set, isReadOnly, problems, at }: FieldProps) {
  const value = action[name]
  return (
    <TextInput
      label={label}
      placeholder={placeholder}
      value={typeof value === 'string' ? value : ''}
      disabled={isReadOnly}
      error={problemAt(problems, `${at}.${name}`)}
      onChange={({ currentTarget }) =>
        set(name, currentTarget.value === '' ? undefined : currentTarget.value)
      }
    />
  )
}

function Template({ name, label, action, set, isReadOnly, problems, at }: FieldProps) {
  const value = action[name]
  return (
    <Textarea
      label={label}
      description={VARIABLES}
      autosize
      minRows={2}
      maxRows={12}
      spellCheck={false}
      styles={{ input: { fontFamily: 'var(--mono)', fontSize: '12.5px' } }}
      value={typeof value === 'string' ? value : ''}
      disabled={isReadOnly}
      error={problemAt(problems, `${at}.${name}`)}
      onChange={({ currentTarget }) =>
        set(name, currentTarget.value === '' ? undefined : currentTarget.value)
      }
    />
  )
}

function Choice(props: FieldProps & { readonly choices: readonly string[] }) {
  const { name, label, placeholder = '', choices, action, set, isReadOnly, problems, at } = props
  const value = action[name]
  return (
    <Autocomplete
      label={label}
      placeholder={placeholder}
      data={[...choices]}
      value={typeof value === 'string' ? value : ''}
      disabled={isReadOnly}
      error={problemAt(problems, `${at}.${name}`)}
      onChange={(given) => set(name, given === '' ? undefined : given)}
    />
  )
}

function Count({ name, label, placeholder = '', action, set, isReadOnly, problems, at }: FieldProps) {
  const value = action[name]
  return (
    <NumberInput
      label={label}
      placeholder={placeholder}
      clampBehavior="none"
      allowDecimal={false}
      value={typeof value === 'number' ? value : ''}
      disabled={isReadOnly}
      error={problemAt(problems, `${at}.${name}`)}
      onChange={(given) => set(name, given === '' ? undefined : Number(given))}
    />
  )
}
