import { SegmentedControl, Select, Textarea } from '@mantine/core'
import { runnableAgents } from '../../../../src/engine/core/coding-agents.ts'
import { useCaller } from '../../frame/caller.ts'
import {
  type Draft,
  NumberField,
  SwitchField,
  TextField,
  TextsField,
} from '../../parts/form/draft-fields.tsx'
import { type Fields, fieldsOf, textOf, textsOf, unlessEmpty, withField } from '../../parts/form/fields.ts'
import { layout, Panel } from '../../parts/layout.tsx'
import { MONO } from '../../theme.ts'
import styles from './blueprint-page.module.css'

type Kind = 'command' | 'model' | 'cli' | 'profile' | 'any'

/** The fields of each kind; all others are changed as JSON. */
const known: Readonly<Record<Kind, readonly string[]>> = {
  command: ['type', 'command'],
  model: ['type', 'max_steps', 'compact_at_tokens', 'permission_first'],
  cli: ['type', 'agent', 'command', 'args', 'allowed_env_vars', 'unconnected'],
  profile: ['profile'],
  any: [],
}

/** What a new executor of a kind begins with. */
const fresh: Readonly<Record<Kind, Fields | undefined>> = {
  command: { command: [] },
  model: { type: 'model' },
  cli: { type: 'cli', agent: 'claude-code' },
  profile: { profile: '' },
  any: undefined,
}

/** How the agent runs: a command, a model, a coding agent, or a profile that its runner knows. */
export function ExecutorForm({ draft }: Readonly<{ draft: Draft }>) {
  const { isReadOnly = false } = draft
  const executor = partOf(draft, 'executor')
  const demands = partOf(draft, 'demands', unlessEmpty)
  const kind = draft.value.executor === undefined ? 'any' : kindOf(executor.value)
  const others = Object.keys(executor.value).filter(
    (name) => !['timeout_seconds', ...known[kind]].includes(name),
  )
  return (
    <Panel title="How it is executed">
      <div className={layout.form}>
        <KindChoice draft={draft} kind={kind} />
        <KindFields kind={kind} executor={executor} isProcedural={draft.value.type === 'procedural'} />
        <NumberField
          draft={executor}
          disabled={isReadOnly || kind === 'any'}
          name="timeout_seconds"
          label="Maximum run time in seconds"
          placeholder="3600"
          min={1}
          max={86_400}
        />
        {others.length === 0 ? null : (
          <p className={styles.empty}>{`Further fields, to be changed as JSON: ${others.join(', ')}`}</p>
        )}
        <TextsField draft={demands} name="tags" label="Tags that a runner must have" />
      </div>
    </Panel>
  )
}

/** An object inside of the draft. `shorten` makes what is saved of it. */
function partOf(
  { value, set, isReadOnly = false }: Draft,
  part: string,
  shorten: (fields: Fields) => Fields | undefined = (fields) => fields,
): Draft {
  const fields = fieldsOf(value[part])
  return {
    value: fields,
    set: (name, given) => set(part, shorten(withField(fields, name, given))),
    isReadOnly,
  }
}

const kinds: readonly { readonly value: Kind; readonly label: string }[] = [
  { value: 'command', label: 'Command' },
  { value: 'model', label: 'Model' },
  { value: 'cli', label: 'Coding agent' },
  { value: 'profile', label: 'Profile' },
  { value: 'any', label: 'Any runner' },
]

function kindOf({ type, ...executor }: Fields): Kind {
  if ('profile' in executor) return 'profile'
  return type === 'model' || type === 'cli' ? type : 'command'
}

/** Another kind has other fields; the time limit stays. */
function KindChoice({ draft, kind }: Readonly<{ draft: Draft; kind: Kind }>) {
  const { edition } = useCaller()
  const choose = (next: Kind) => {
    const { timeout_seconds } = fieldsOf(draft.value.executor)
    const started = fresh[next]
    draft.set('executor', started && withField(started, 'timeout_seconds', timeout_seconds))
  }
  return (
    <SegmentedControl
      size="xs"
      className={layout.left ?? ''}
      aria-label="Executor"
      disabled={draft.isReadOnly ?? false}
      data={kinds.map(({ value, label }) => ({
        ...{ value, label },
        disabled: edition === 'standard' && value !== 'profile' && value !== 'any',
      }))}
      value={kind}
      onChange={choose}
    />
  )
}

interface KindFieldsProps {
  readonly kind: Kind
  readonly executor: Draft
  readonly isProcedural: boolean
}

function KindFields({ kind, executor, isProcedural }: KindFieldsProps) {
  switch (kind) {
    case 'command':
      return <CommandFields executor={executor} />
    case 'model':
      return <ModelFields executor={executor} isProcedural={isProcedural} />
    case 'cli':
      return <CodingAgentFields executor={executor} />
    case 'profile':
      return (
        <TextField
          draft={executor}
          name="profile"
          label="Profile"
          description="hookhelm runner --profile <name> -- <command>"
          required
        />
      )
    case 'any':
      return (
        <p className={styles.empty}>
          A model of the local runner, or any runner that registers for autonomous agents.
        </p>
      )
  }
}

function CommandFields({ executor }: Readonly<{ executor: Draft }>) {
  const command = textsOf(executor.value.command) ?? []
  const isOneLine = command.every((part) => !part.includes('\n'))
  return (
    <Textarea
      label="Program and arguments, one per line"
      description={
        isOneLine
          ? 'Gets the parameters as JSON on stdin, and prints the result as JSON.'
          : 'An argument has several lines: change it as JSON.'
      }
      styles={MONO}
      autosize
      minRows={3}
      maxRows={12}
      value={command.join('\n')}
      disabled={executor.isReadOnly === true || !isOneLine}
      onChange={({ currentTarget }) => executor.set('command', currentTarget.value.split('\n'))}
    />
  )
}

function ModelFields({ executor, isProcedural }: Omit<KindFieldsProps, 'kind'>) {
  return (
    <>
      <p className={styles.empty}>
        {isProcedural
          ? 'A model needs an agent of type autonomous: choose it on the left.'
          : 'The model works with the prompt, the model and the tools on the left.'}
      </p>
      <div className={styles.pair}>
        <NumberField
          draft={executor}
          name="max_steps"
          label="Most steps"
          placeholder="50"
          min={1}
          max={1_000}
        />
        <NumberField
          draft={executor}
          name="compact_at_tokens"
          label="Compact the context at (tokens)"
          placeholder="100000"
          min={1_000}
          max={10_000_000}
        />
      </div>
      <SwitchField
        draft={executor}
        name="permission_first"
        on={true}
        label="Ask permission_request before pre_tool_use"
      />
    </>
  )
}

function CodingAgentFields({ executor }: Readonly<{ executor: Draft }>) {
  return (
    <>
      <Select
        label="Coding agent"
        description="Started without a terminal. Its tool calls reach the hooks through hookhelm connect."
        data={runnableAgents}
        value={textOf(executor.value.agent) || null}
        disabled={executor.isReadOnly ?? false}
        onChange={(agent) => executor.set('agent', agent ?? undefined)}
        allowDeselect={false}
        required
      />
      <TextsField
        draft={executor}
        name="args"
        label="Further arguments"
        description="Placed in this order before the arguments that Hookhelm adds."
        allowDuplicates
      />
      <TextsField
        draft={executor}
        name="allowed_env_vars"
        label="Variables that it gets"
        description="Taken from the environment of the runner, for example ANTHROPIC_API_KEY."
      />
      <TextsField
        draft={executor}
        name="command"
        label="Program"
        description="Replaces the usual program, and may have first arguments."
        allowDuplicates
      />
      <SwitchField
        draft={executor}
        name="unconnected"
        on="allow"
        label="Run also if it is not connected"
        description="No hook sees its tool calls then."
      />
    </>
  )
}
