import { Accordion, Button, Input, SegmentedControl, Select, Textarea } from '@mantine/core'
import { useClipboard, useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { dump, load } from 'js-yaml'
import { useState } from 'react'
import type { Methods } from '../../../../src/client/index.ts'
import { useCaller, useMay } from '../../frame/caller.ts'
import { call, GatewayError } from '../../gateway/call.ts'
import { Decision } from '../../parts/decision.tsx'
import { Text } from '../../parts/json.tsx'
import { Empty, Failed, Loaded, layout, Meter, Panel } from '../../parts/layout.tsx'
import { Age, Code } from '../../parts/values.tsx'
import styles from './hook-config.module.css'
import {
  eventNames,
  type FieldSchema,
  type HookDraft,
  handlerConfigs,
  hookFields,
  toInput,
} from './hook-schema.ts'
import { SchemaField } from './schema-field.tsx'

interface HookConfigProps {
  readonly draft: HookDraft
  readonly onChange: (draft: HookDraft) => void
  readonly isReadOnly: boolean
}

const first = ['name', 'matcher', 'if_expr'] as const
const timing = ['timeout_ms', 'on_timeout', 'priority'] as const
const shown = new Set<string>([
  ...first,
  ...timing,
  'id',
  'event',
  'handler_type',
  'config',
  'enabled',
  'disabled_reason',
])
const more = Object.keys(hookFields).filter((name) => !shown.has(name))

/** The form on the left, live proof on the right. */
export function HookConfig({ draft, onChange, isReadOnly }: HookConfigProps) {
  const [isText, setText] = useState(false)
  const mayPreview = useMay('operator')
  const preview = usePreview(draft, mayPreview)
  const problem = preview.error instanceof GatewayError ? preview.error : undefined
  return (
    <div className={layout.columns}>
      <Panel
        title="When and what"
        aside={
          <SegmentedControl
            size="xs"
            aria-label="Form or YAML"
            data={['Form', 'YAML']}
            value={isText ? 'YAML' : 'Form'}
            onChange={(value) => setText(value === 'YAML')}
          />
        }
      >
        {isReadOnly ? (
          <p className={styles.note}>You can read this hook and test it, but not change it.</p>
        ) : null}
        <div className={styles.form}>
          {isText ? (
            <DraftText draft={draft} onChange={onChange} isReadOnly={isReadOnly} />
          ) : (
            <HookForm draft={draft} onChange={onChange} isReadOnly={isReadOnly} problem={problem} />
          )}
        </div>
      </Panel>
      <div className={layout.stack}>
        {mayPreview ? <Proof preview={preview} /> : null}
        <AsFile draft={draft} />
      </div>
    </div>
  )
}

type HookFormProps = HookConfigProps & { readonly problem: GatewayError | undefined }

function HookForm({ draft, onChange, isReadOnly, problem }: HookFormProps) {
  const { edition } = useCaller()
  const set = (name: string, value: unknown) => onChange({ ...draft, [name]: value })
  const type = typeof draft.handler_type === 'string' ? draft.handler_type : 'script'
  const config = handlerConfigs.get(type)
  const values = typeof draft.config === 'object' && draft.config !== null ? { ...draft.config } : {}
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
        problem={problem?.at === name ? problem.message : undefined}
      />
    )
  }
  return (
    <>
      <Select
        label="Event"
        data={[...eventNames]}
        value={typeof draft.event === 'string' ? draft.event : null}
        onChange={(value) => set('event', value ?? undefined)}
        searchable
        required
        disabled={isReadOnly}
      />
      {first.map(field)}
      <Input.Wrapper
        label="Handler"
        labelElement="div"
        description={
          edition === 'standard'
            ? 'Commands are off on the standard edition: use a script or a webhook.'
            : undefined
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
          onChange={(value) => onChange({ ...draft, handler_type: value, config: {} })}
          disabled={isReadOnly}
        />
      </Input.Wrapper>
      {Object.entries(config?.properties ?? {}).map(([name, schema]) =>
        isSetByGateway(schema) ? null : (
          <SchemaField
            key={`${type}.${name}`}
            name={name}
            schema={schema}
            value={(values as Record<string, unknown>)[name]}
            onChange={(value) => set('config', withField(values, name, value))}
            isRequired={config?.required?.includes(name) ?? false}
            isDisabled={isReadOnly}
          />
        ),
      )}
      <div className={styles.three}>{timing.map(field)}</div>
      <Accordion variant="contained">
        <Accordion.Item value="more">
          <Accordion.Control>More: failures, limits, locks</Accordion.Control>
          <Accordion.Panel>
            <div className={styles.form}>{more.map(field)}</div>
          </Accordion.Panel>
        </Accordion.Item>
      </Accordion>
    </>
  )
}

/** A field that people cannot set needs no place in the form. */
function isSetByGateway({ description = '' }: FieldSchema): boolean {
  return description.startsWith('Ignored.') || description.includes('The gateway sets it.')
}

function withField(values: object, name: string, value: unknown): Record<string, unknown> {
  const { [name]: _, ...rest } = values as Record<string, unknown>
  return value === undefined ? rest : { ...rest, [name]: value }
}

/** The same draft as text. What cannot be read yet stays in the field and changes nothing. */
function DraftText({ draft, onChange, isReadOnly }: HookConfigProps) {
  const [text, setText] = useState(() => printYaml(toInput(draft)))
  const [problem, setProblem] = useState<string>()
  const change = (typed: string) => {
    setText(typed)
    try {
      const value: unknown = load(typed)
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        throw new Error('a hook is a mapping of fields')
      onChange({ ...value })
      setProblem(undefined)
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    }
  }
  return (
    <Textarea
      aria-label="The hook as YAML"
      autosize
      minRows={18}
      spellCheck={false}
      disabled={isReadOnly}
      styles={{ input: { fontFamily: 'var(--mono)', fontSize: '12.5px' } }}
      value={text}
      error={problem}
      onChange={({ currentTarget }) => change(currentTarget.value)}
    />
  )
}

/** As hook files are written; long lines stay whole. */
function printYaml(value: unknown): string {
  return dump(value, { lineWidth: -1 })
}

function usePreview(draft: HookDraft, isEnabled: boolean) {
  const [settled] = useDebouncedValue(draft, 300)
  const hook = { scope: 'tenant', ...toInput(settled) }
  return useQuery({
    queryKey: ['hooks', 'preview', hook],
    queryFn: ({ signal }) =>
      call('hooks.preview', { hook, limit: 500 } as unknown as Methods['hooks.preview']['params'], signal),
    enabled: isEnabled,
    placeholderData: (previous) => previous,
    staleTime: 10_000,
  })
}

/** What the conditions would have matched, updated as one types. */
function Proof({ preview }: { readonly preview: ReturnType<typeof usePreview> }) {
  return (
    <Panel title="Against the last 500 events" aside="updates as you type">
      {preview.error !== null ? (
        <Failed error={preview.error} />
      ) : (
        <Loaded query={preview} rows={4}>
          {({ checked, matched, changes, rows }) =>
            checked === 0 ? (
              <Empty title="No event of this kind was recorded yet">
                The proof appears with the first one.
              </Empty>
            ) : (
              <>
                <p className={styles.figure}>
                  <b>{matched}</b> of {checked} match
                  <span>
                    {changes.block} of them were blocked when they happened, {changes.ask} asked,{' '}
                    {changes.rewrite} rewritten
                  </span>
                  <Meter max={checked} value={matched} label={`${matched} of ${checked} match`} />
                </p>
                {matchesFirst(rows).map(({ event_id, created_at, what, kind, would, why }) => (
                  <Link
                    key={event_id}
                    to="/events/$eventId"
                    params={{ eventId: event_id }}
                    className={`${layout.row} ${styles.event}`}
                    title={why}
                  >
                    <span className={styles.age}>
                      <Age at={created_at} />
                    </span>
                    <Code text={what ?? ''} />
                    {would === 'match' ? (
                      <Decision outcome={kind === 'allow' ? 'shadow' : kind}>match</Decision>
                    ) : (
                      <Decision outcome="skip">no match</Decision>
                    )}
                  </Link>
                ))}
              </>
            )
          }
        </Loaded>
      )}
    </Panel>
  )
}

type PreviewRow = Methods['hooks.preview']['result']['rows'][number]

/** A few rows: all matches that fit, then what just misses. */
function matchesFirst(rows: readonly PreviewRow[]): readonly PreviewRow[] {
  const [matches, others] = ['match', 'no match'].map((would) => rows.filter((row) => row.would === would))
  return [...(matches ?? []).slice(0, 9), ...(others ?? []).slice(0, 3)]
}

function AsFile({ draft }: { readonly draft: HookDraft }) {
  const { copy, copied } = useClipboard({ timeout: 1_500 })
  const text = printYaml({ version: 1, hooks: [{ id: idOf(draft), ...toInput(draft) }] })
  return (
    <Panel
      title="As a file"
      aside={
        <Button variant="default" size="compact-xs" onClick={() => copy(text)}>
          {copied ? 'Copied' : 'Copy'}
        </Button>
      }
    >
      <Text text={text} />
    </Panel>
  )
}

function idOf({ name }: HookDraft): string {
  return typeof name === 'string' && name !== '' ? name : 'my-hook'
}
