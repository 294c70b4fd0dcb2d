import { NumberInput, SegmentedControl, Select, Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import { runnableAgents } from '../../../../src/engine/core/coding-agents.ts'
import { useCaller } from '../../frame/caller.ts'
import { Panel } from '../../parts/layout.tsx'
import { type Fields, fieldsOf, textsOf, withField } from '../runs/parameter-form.tsx'
import styles from './blueprint-page.module.css'
import type { BlueprintFormProps } from './blueprint-page.tsx'

const MONO = { input: { fontFamily: 'var(--mono)', fontSize: '12.5px' } }

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
export function ExecutorForm({ draft, set, isReadOnly }: BlueprintFormProps) {
  const { edition } = useCaller()
  const executor = fieldsOf(draft.executor)
  const demands = fieldsOf(draft.demands)
  const kind = draft.executor === undefined ? 'any' : kindOf(executor)
  const setExecutor = (name: string, value: unknown) => set('executor', withField(executor, name, value))
  const others = Object.keys(executor).filter((name) => !['timeout_seconds', ...known[kind]].includes(name))
  const choose = (chosen: string) => {
    const next = kinds.find(({ value }) => value === chosen)?.value ?? 'command'
    const { timeout_seconds } = executor
    const isPlain = timeout_seconds === undefined || next === 'any'
    set('executor', isPlain ? fresh[next] : { ...fresh[next], timeout_seconds })
  }
  const fields = { executor, set: setExecutor, isReadOnly }
  return (
    <Panel title="How it is executed">
      <div className={styles.form}>
        <SegmentedControl
          size="xs"
          className={styles.left ?? ''}
          aria-label="Executor"
          disabled={isReadOnly}
          data={kinds.map(({ value, label }) => ({
            ...{ value, label },
            disabled: edition === 'standard' && value !== 'profile' && value !== 'any',
          }))}
          value={kind}
          onChange={choose}
        />
        {kind === 'command' ? <CommandFields {...fields} /> : null}
        {kind === 'model' ? <ModelFields {...fields} isProcedural={draft.type === 'procedural'} /> : null}
        {kind === 'cli' ? <CodingAgentFields {...fields} /> : null}
        {kind === 'profile' ? (
          <TextInput
            label="Profile"
            description="hookhelm runner --profile <name> -- <command>"
            value={typeof executor.profile === 'string' ? executor.profile : ''}
            disabled={isReadOnly}
            onChange={({ currentTarget }) => setExecutor('profile', currentTarget.value)}
            required
          />
        ) : null}
        {kind === 'any' ? (
          <p className={styles.empty}>
            A model of the local runner, or any runner that registers for autonomous agents.
          </p>
        ) : null}
        <NumberField
          {...fields}
          isReadOnly={isReadOnly || kind === 'any'}
          name="timeout_seconds"
          label="Longest run in seconds"
          placeholder="3600"
          max={86_400}
        />
        {others.length === 0 ? null : (
          <p className={styles.empty}>{`More of it in JSON: ${others.join(', ')}`}</p>
        )}
        <TagsInput
          label="Tags that a runner must have"
          value={[...(textsOf(demands.tags) ?? [])]}
          disabled={isReadOnly}
          onChange={(tags) => {
            const wanted = withField(demands, 'tags', tags.length === 0 ? undefined : tags)
            set('demands', Object.keys(wanted).length === 0 ? undefined : wanted)
          }}
        />
      </div>
    </Panel>
  )
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

interface ExecutorFieldsProps {
  readonly executor: Fields
  readonly set: (name: string, value: unknown) => void
  readonly isReadOnly: boolean
}

function CommandFields({ executor, set, isReadOnly }: ExecutorFieldsProps) {
  const command = textsOf(executor.command) ?? []
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
      disabled={isReadOnly || !isOneLine}
      onChange={({ currentTarget }) => set('command', currentTarget.value.split('\n'))}
    />
  )
}

function ModelFields(props: ExecutorFieldsProps & { readonly isProcedural: boolean }) {
  const { executor, set, isReadOnly, isProcedural } = props
  return (
    <>
      <p className={styles.empty}>
        {isProcedural
          ? 'A model needs an agent of type autonomous: choose it on the left.'
          : 'The model works with the prompt, the model and the tools on the left.'}
      </p>
      <div className={styles.pair}>
        <NumberField {...props} name="max_steps" label="Most steps" placeholder="50" max={1_000} />
        <NumberField
          {...props}
          name="compact_at_tokens"
          label="Compact at tokens"
          placeholder="100000"
          min={1_000}
          max={10_000_000}
        />
      </div>
      <Switch
        label="Ask permission_request before pre_tool_use"
        checked={executor.permission_first === true}
        disabled={isReadOnly}
        onChange={({ currentTarget }) => set('permission_first', currentTarget.checked ? true : undefined)}
      />
    </>
  )
}

function CodingAgentFields({ executor, set, isReadOnly }: ExecutorFieldsProps) {
  const list = (name: string) => [...(textsOf(executor[name]) ?? [])]
  const setList = (name: string) => (entries: readonly string[]) =>
    set(name, entries.length === 0 ? undefined : entries)
  return (
    <>
      <Select
        label="Coding agent"
        description="Started without a terminal. Its tool calls reach the hooks through hookhelm connect."
        data={[...runnableAgents]}
        value={typeof executor.agent === 'string' ? executor.agent : null}
        disabled={isReadOnly}
        onChange={(agent) => set('agent', agent ?? undefined)}
        allowDeselect={false}
        required
      />
      <TagsInput
        label="Further arguments"
        description="In front of ours, in this order."
        value={list('args')}
        disabled={isReadOnly}
        onChange={setList('args')}
        allowDuplicates
      />
      <TagsInput
        label="Variables that it gets"
        description="Of the runner, for example ANTHROPIC_API_KEY."
        value={list('allowed_env_vars')}
        disabled={isReadOnly}
        onChange={setList('allowed_env_vars')}
      />
      <TagsInput
        label="Program"
        description="In place of the usual one, with its first arguments."
        value={list('command')}
        disabled={isReadOnly}
        onChange={setList('command')}
        allowDuplicates
      />
      <Switch
        label="Run also if it is not connected"
        description="No hook sees its tool calls then."
        checked={executor.unconnected === 'allow'}
        disabled={isReadOnly}
        onChange={({ currentTarget }) => set('unconnected', currentTarget.checked ? 'allow' : undefined)}
      />
    </>
  )
}

interface NumberFieldProps extends ExecutorFieldsProps {
  readonly name: string
  readonly label: string
  readonly placeholder: string
  readonly min?: number
  readonly max: number
}

function NumberField({ executor, set, isReadOnly, name, min = 1, ...shown }: NumberFieldProps) {
  const value = executor[name]
  return (
    <NumberInput
      label={shown.label}
      placeholder={shown.placeholder}
      min={min}
      max={shown.max}
      allowDecimal={false}
      disabled={isReadOnly}
      value={typeof value === 'number' ? value : ''}
      onChange={(given) => set(name, given === '' ? undefined : Number(given))}
    />
  )
}
