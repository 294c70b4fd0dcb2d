import { Accordion, Input, SegmentedControl, Select } from '@mantine/core'
import { useState } from 'react'
import { useCaller } from '../../frame/caller.ts'
import type { GatewayError } from '../../gateway/call.ts'
import { fieldsOf, textOf, withField } from '../../parts/form/fields.ts'
import { layout } from '../../parts/layout.tsx'
import styles from './hook.module.css'
import { eventNames, type FieldSchema, type HookDraft, handlerConfigs, hookFields } from './hook-schema.ts'
import { SchemaField } from './schema-field.tsx'

export interface HookEditorProps {
  readonly draft: HookDraft
  readonly onChange: (draft: HookDraft) => void
  readonly isReadOnly: boolean
}

interface HookFormProps extends HookEditorProps {
  /** What the gateway objects to in the draft. */
  readonly problem: GatewayError | undefined
}

const first = ['name', 'matcher', 'if_expr'] as const
const timing = ['timeout_ms', 'on_timeout', 'priority'] as const
/** Shown at once where the draft has them: a person must see how long and for whom a hook allows calls. */
const important = ['scope', 'agent_ids', 'match', 'expires_at', 'preapproves'] as const
const shown = new Set<string>([
  ...first,
  ...timing,
  'id',
  'event',
  'handler_type',
  'config',
  'enabled',
  'disabled_reason',
  'tripped_by',
])
const more = Object.keys(hookFields).filter((name) => !shown.has(name))

/** The fields of a hook, drawn from its schema. */
export function HookForm({ draft, onChange, isReadOnly, problem }: HookFormProps) {
  const set = (name: string, value: unknown) => onChange({ ...draft, [name]: value })
  // Chosen once, so that nothing jumps while a person edits.
  const [raised] = useState<readonly string[]>(draft.preapproves === true ? important : [])
  const others = more.filter((name) => !raised.includes(name))
  const field = (name: string) => {
    const schema = hookFields[name]
    return schema === undefined ? null : (
      <SchemaField
        key={name}
        name={name}
        schema={schema}
        value={draft[name]}
        onChange={(value) => set(name, value)}
        isDisabled={isReadOnly}
        problem={problemOf(name, problem)}
      />
    )
  }
  return (
    <>
      <Select
        label="Event"
        data={[...eventNames]}
        value={textOf(draft.event) || null}
        onChange={(value) => set('event', value ?? undefined)}
        searchable
        required
        allowDeselect={false}
        disabled={isReadOnly}
      />
      {first.map(field)}
      {raised.map(field)}
      <HandlerFields draft={draft} onChange={onChange} isReadOnly={isReadOnly} problem={problem} />
      <div className={styles.three}>{timing.map(field)}</div>
      <More
        title="More: failures, limits, locks"
        isWrong={others.some((name) => problemOf(name, problem) !== undefined)}
      >
        {others.map(field)}
      </More>
    </>
  )
}

/** What is wrong with a field. A condition is named with the position in it: `if_expr:1:11`. */
function problemOf(name: string, problem: GatewayError | undefined): string | undefined {
  // A preview gets the draft as its parameter `hook`.
  const at = problem?.at?.replace(/^hook\./, '') ?? ''
  return at === name || at.startsWith(`${name}:`) || at.startsWith(`${name}.`) ? problem?.message : undefined
}

const handlerHints: Readonly<Record<string, string>> = {
  script: 'JavaScript in a sandbox, without network and files.',
  command: 'Gets the event as JSON on stdin. Exit 0 allows, exit 2 blocks with stderr as the reason.',
  http: 'Posts the event to an address and reads the decision from the answer.',
  prompt: 'Asks a model whether to block. Each call draws on the token budget.',
  agent: 'Starts an agent of the host and waits for its answer.',
  answer: 'Gives a fixed answer. Matcher and condition say when.',
  function: 'A function of the program that embeds the engine. A gateway on its own has none.',
}

/** Text that a new guard prints must not open its gate. */
function answerOf(handlerType: string): 'exact' | undefined {
  return handlerType === 'command' || handlerType === 'http' ? 'exact' : undefined
}

/** The handler and its settings. Another handler has other settings, so a change of it empties them. */
function HandlerFields({ draft, onChange, isReadOnly, problem }: HookFormProps) {
  const { edition } = useCaller()
  const type = textOf(draft.handler_type) || 'script'
  const config = handlerConfigs.get(type)
  const values = fieldsOf(draft.config)
  const field = ([name, schema]: readonly [string, FieldSchema]) => (
    <SchemaField
      key={`${type}.${name}`}
      name={name}
      schema={schema}
      value={values[name]}
      onChange={(value) => onChange({ ...draft, config: withField(values, name, value) })}
      isRequired={config?.required?.includes(name) ?? false}
      isDisabled={isReadOnly}
      problem={problemOf(`config.${name}`, problem)}
    />
  )
  const fields = Object.entries(config?.properties ?? {}).filter(
    ([name, schema]) => name in values || !isNeverTyped(schema),
  )
  const rare = fields.filter(([name, schema]) => !(name in values) && isRare(name, schema))
  return (
    <>
      <Input.Wrapper
        label="Handler"
        labelElement="div"
        description={
          edition === 'standard'
            ? `${handlerHints[type] ?? ''} Commands are off on the standard edition: use a script or a webhook.`
            : handlerHints[type]
        }
      >
        <SegmentedControl
          className={styles.handlers ?? ''}
          aria-label="Handler"
          data={[...handlerConfigs.keys()].map((name) => ({
            value: name,
            label: name,
            disabled: name === 'command' && edition === 'standard',
          }))}
          value={type}
          onChange={(value) =>
            onChange({ ...draft, handler_type: value, config: {}, answer: answerOf(value) })
          }
          disabled={isReadOnly}
        />
      </Input.Wrapper>
      {fields.filter((each) => !rare.includes(each)).map(field)}
      {rare.length === 0 ? null : (
        <More title="For hooks of other tools" isWrong={false}>
          {rare.map(field)}
        </More>
      )}
    </>
  )
}

interface MoreProps {
  readonly title: string
  /** The gateway refuses one of the fields, so they must be seen. */
  readonly isWrong: boolean
  readonly children: React.ReactNode
}

/** Fields that few hooks need. */
function More({ title, isWrong, children }: MoreProps) {
  const [opened, setOpened] = useState<string | null>(null)
  return (
    <Accordion variant="contained" keepMounted={false} value={isWrong ? title : opened} onChange={setOpened}>
      <Accordion.Item value={title}>
        <Accordion.Control>{title}</Accordion.Control>
        <Accordion.Panel>
          <div className={layout.form}>{children}</div>
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  )
}

/** The gateway sets the field, ignores it, or knows it by another name. */
function isNeverTyped({ description = '' }: FieldSchema): boolean {
  return /^Ignored\.|^Another spelling|The gateway sets it\./.test(description)
}

const foreign = new Set(['payload', 'payload_event', 'format', 'pinned_files'])

/** The field serves hooks that were written for another tool. */
function isRare(name: string, { description = '' }: FieldSchema): boolean {
  return foreign.has(name) || /^`?openharness/i.test(description)
}
