import { Button, Group, SegmentedControl, Tabs, TagsInput, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../frame/caller.ts'
import { call, GatewayError } from '../../gateway/call.ts'
import { Decision } from '../../parts/decision.tsx'
import { Failed, Loaded, layout, Page, Panel, Tag } from '../../parts/layout.tsx'
import { CopyCommand } from '../../parts/values.tsx'
import {
  defaultsOf,
  type Fields,
  fieldsOf,
  ObjectText,
  ParameterForm,
  textsOf,
  withField,
} from '../runs/parameter-form.tsx'
import { RunForm } from '../runs/start-run.tsx'
import { NEW_BLUEPRINT, newBlueprint, replacementOf } from './blueprint-draft.ts'
import styles from './blueprint-page.module.css'
import type { StoredBlueprint } from './blueprints.tsx'
import { ExecutorForm } from './executor-form.tsx'
import { HooksTab } from './hooks-tab.tsx'
import { SchemaEditor } from './schema-editor.tsx'

const route = getRouteApi('/agents/$name')

/** One agent: how it is executed, what it takes and returns, and the hooks around its runs. */
export function BlueprintPage() {
  const { name } = route.useParams()
  return name === NEW_BLUEPRINT ? <BlueprintView stored={undefined} /> : <StoredView name={name} />
}

function StoredView({ name }: { readonly name: string }) {
  const query = useQuery({
    queryKey: ['blueprints', name],
    queryFn: ({ signal }) => call('blueprints.show', { name }, signal),
    refetchInterval: 5_000,
  })
  return (
    <Loaded query={query} rows={8}>
      {({ blueprint }) => <BlueprintView key={blueprint.name} stored={blueprint} />}
    </Loaded>
  )
}

function BlueprintView({ stored }: { readonly stored: StoredBlueprint | undefined }) {
  const { tab = 'agent' } = route.useSearch()
  const navigate = useNavigate()
  const maySave = useMay('admin')
  const mayStart = useMay('operator')
  const [edited, setEdited] = useState<Fields>()
  /** Grows when the draft is thrown away, so that fields with text of their own start anew. */
  const [round, setRound] = useState(0)
  const reset = () => {
    setEdited(undefined)
    setRound(round + 1)
  }
  const draft = edited ?? stored?.definition ?? newBlueprint
  const isReadOnly = !maySave || stored?.source === 'file'
  const set = (name: string, value: unknown) => setEdited(withField(draft, name, value))
  const title = stored?.name ?? 'New blueprint'
  return (
    <Page
      title={title}
      heading={
        <Group gap="xs">
          {title}
          {stored === undefined ? null : <Tag>{originOf(stored)}</Tag>}
        </Group>
      }
      purpose={
        typeof draft.description === 'string' && draft.description !== ''
          ? draft.description
          : 'An agent that Hookhelm starts.'
      }
      actions={
        stored === undefined ? null : (
          <Link to="/runs" search={{ agent: stored.name }}>
            Its runs
          </Link>
        )
      }
    >
      <SaveBar stored={stored} draft={draft} edited={edited} onSaved={reset} isReadOnly={isReadOnly} />
      <Tabs
        key={round}
        value={tab}
        onChange={(chosen) =>
          void navigate({
            to: '/agents/$name',
            params: { name: stored?.name ?? NEW_BLUEPRINT },
            search: chosen === null ? {} : { tab: chosen },
            replace: true,
          })
        }
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="agent">Agent</Tabs.Tab>
          <Tabs.Tab value="hooks">Hooks</Tabs.Tab>
          <Tabs.Tab value="schemas">Parameters and result</Tabs.Tab>
          <Tabs.Tab value="json">JSON</Tabs.Tab>
          {stored === undefined || !mayStart ? null : <Tabs.Tab value="start">Start</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="agent">
          <AgentForm draft={draft} set={set} isNew={stored === undefined} isReadOnly={isReadOnly} />
        </Tabs.Panel>
        <Tabs.Panel value="hooks">
          <HooksTab
            hooks={fieldsOf(draft.hooks)}
            isReadOnly={isReadOnly}
            onChange={(hooks) => set('hooks', Object.keys(hooks).length === 0 ? undefined : hooks)}
          />
        </Tabs.Panel>
        <Tabs.Panel value="schemas">
          <Schemas draft={draft} set={set} isReadOnly={isReadOnly} />
        </Tabs.Panel>
        <Tabs.Panel value="json">
          <Panel title="The whole blueprint">
            <div className={styles.form}>
              <ObjectText
                label="Blueprint as JSON"
                rows={18}
                value={draft}
                isDisabled={isReadOnly}
                onChange={setEdited}
              />
            </div>
          </Panel>
        </Tabs.Panel>
        {stored === undefined ? null : (
          <Tabs.Panel value="start">
            <Panel title={`Start ${stored.name}`}>
              <div className={styles.form}>
                {edited === undefined ? null : (
                  <p className={styles.empty}>The run uses version {stored.version}, without your changes.</p>
                )}
                <RunForm agent={stored.name} schema={stored.definition.parameters_schema} given={undefined} />
              </div>
            </Panel>
          </Tabs.Panel>
        )}
      </Tabs>
    </Page>
  )
}

function originOf({ source, version }: StoredBlueprint): string {
  if (source === 'builtin') return 'built-in'
  return source === 'file' ? 'from a file' : `version ${version}`
}

interface SaveBarProps {
  readonly stored: StoredBlueprint | undefined
  readonly draft: Fields
  readonly edited: Fields | undefined
  readonly onSaved: () => void
  readonly isReadOnly: boolean
}

/** Saving, deleting, what the gateway refused, and what it warned about. */
function SaveBar({ stored, draft, edited, onSaved, isReadOnly }: SaveBarProps) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [isSure, setSure] = useState(false)
  const isBuiltIn = stored?.source === 'builtin'
  const settled = { onSettled: () => queries.invalidateQueries({ queryKey: ['blueprints'] }) }
  const save = useMutation({
    ...settled,
    mutationFn: () => {
      const name = typeof draft.name === 'string' ? draft.name : ''
      // A saved agent replaces the built-in one of its name.
      return stored === undefined || isBuiltIn
        ? call('blueprints.create', { ...draft, name })
        : call('blueprints.update', {
            ...replacementOf(stored.definition, draft),
            name: stored.name,
            version: stored.version,
          })
    },
    onSuccess: async ({ blueprint }) => {
      queries.setQueryData(['blueprints', blueprint.name], { blueprint })
      onSaved()
      if (stored === undefined)
        await navigate({ to: '/agents/$name', params: { name: blueprint.name }, search: (now) => now })
    },
  })
  const remove = useMutation({
    ...settled,
    mutationFn: () => call('blueprints.delete', { name: stored?.name ?? '' }),
    onSuccess: () => navigate({ to: '/agents', search: { tab: 'blueprints' } }),
  })
  if (isReadOnly)
    return (
      <p className={styles.empty}>
        {stored?.source === 'file'
          ? 'It comes from a file: change the file.'
          : 'You can read this agent, but not change it.'}
      </p>
    )
  const failure = save.error ?? remove.error
  const warnings = edited === undefined ? (save.data?.warnings ?? []) : []
  return (
    <div className={styles.save}>
      <Group gap="xs">
        <Button
          size="xs"
          disabled={stored !== undefined && edited === undefined}
          loading={save.isPending}
          onClick={() => save.mutate()}
        >
          {stored === undefined
            ? 'Save'
            : isBuiltIn
              ? 'Replace the built-in agent'
              : `Save version ${stored.version + 1}`}
        </Button>
        {edited === undefined || stored === undefined ? null : (
          <Button size="xs" variant="default" onClick={onSaved}>
            Discard changes
          </Button>
        )}
        {stored === undefined || isBuiltIn ? null : (
          <Button
            size="xs"
            variant={isSure ? 'filled' : 'default'}
            {...(isSure ? { color: 'red' } : {})}
            onBlur={() => setSure(false)}
            onClick={() => (isSure ? remove.mutate() : setSure(true))}
          >
            {isSure ? `Delete ${stored.name} and its hooks: its runs stay` : 'Delete'}
          </Button>
        )}
        {stored === undefined ? null : <CopyCommand text={`hookhelm blueprints show ${stored.name}`} />}
      </Group>
      {warnings.map((warning) => (
        <p key={warning} className={styles.warning}>
          <Decision outcome="opened">{warning}</Decision>
        </p>
      ))}
      {failure === null ? null : <SaveFailed error={failure} />}
    </div>
  )
}

function SaveFailed({ error }: { readonly error: Error }) {
  if (!(error instanceof GatewayError) || error.at === undefined) return <Failed error={error} />
  const { at, message, hint } = error
  return <Failed error={new Error([`${at}: ${message}`, hint].filter(Boolean).join('. '))} />
}

export interface BlueprintFormProps {
  readonly draft: Fields
  readonly set: (name: string, value: unknown) => void
  readonly isReadOnly: boolean
}

function AgentForm({ draft, set, isNew, isReadOnly }: BlueprintFormProps & { readonly isNew: boolean }) {
  const text = (name: string) => (typeof draft[name] === 'string' ? draft[name] : '')
  const change =
    (name: string) =>
    ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      set(name, currentTarget.value === '' ? undefined : currentTarget.value)
  return (
    <div className={layout.columns}>
      <Panel title="What it is">
        <div className={styles.form}>
          <TextInput
            label="Name"
            value={text('name')}
            disabled={isReadOnly || !isNew}
            description={isNew ? undefined : 'The name of a saved agent stays.'}
            onChange={change('name')}
            required
          />
          <div>
            <span className={styles.label}>Type</span>
            <SegmentedControl
              size="xs"
              aria-label="Type"
              disabled={isReadOnly}
              data={['procedural', 'autonomous']}
              value={text('type') || 'procedural'}
              onChange={(type) => set('type', type)}
            />
          </div>
          <Textarea
            label="Description"
            value={text('description')}
            disabled={isReadOnly}
            autosize
            minRows={2}
            onChange={change('description')}
          />
          {text('type') === 'autonomous' ? (
            <>
              <Textarea
                label="System prompt"
                value={text('system_prompt')}
                disabled={isReadOnly}
                autosize
                minRows={4}
                onChange={change('system_prompt')}
              />
              <TextInput
                label="Model"
                value={text('model')}
                disabled={isReadOnly}
                onChange={change('model')}
              />
              <TagsInput
                label="Tools"
                value={[...(textsOf(draft.tools) ?? [])]}
                disabled={isReadOnly}
                onChange={(tools) => set('tools', tools.length === 0 ? undefined : tools)}
              />
            </>
          ) : null}
        </div>
      </Panel>
      <ExecutorForm draft={draft} set={set} isReadOnly={isReadOnly} />
    </div>
  )
}

function Schemas({ draft, set, isReadOnly }: BlueprintFormProps) {
  return (
    <div className={layout.columns}>
      <div className={layout.stack}>
        <Panel title="Parameters" aside={<code>parameters_schema</code>}>
          <SchemaEditor
            label="Parameters"
            value={draft.parameters_schema}
            isReadOnly={isReadOnly}
            onChange={(schema) => set('parameters_schema', schema)}
          />
        </Panel>
        <Panel title="Result" aside={<code>output_schema</code>}>
          <SchemaEditor
            label="Result"
            value={draft.output_schema}
            isReadOnly={isReadOnly}
            onChange={(schema) => set('output_schema', schema)}
          />
        </Panel>
      </div>
      <FormPreview schema={draft.parameters_schema} />
    </div>
  )
}

/** The form that people get who start a run. */
function FormPreview({ schema }: { readonly schema: unknown }) {
  const [value, setValue] = useState<Fields>(() => defaultsOf(schema))
  return (
    <Panel title="The form of a run" aside="as the schema draws it">
      <div className={styles.form}>
        <ParameterForm schema={schema} value={value} onChange={setValue} />
      </div>
    </Panel>
  )
}
