import { Button, Group, SegmentedControl } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../frame/caller.ts'
import { useAction } from '../../gateway/use-action.ts'
import { keyOf, useMethod } from '../../gateway/use-method.ts'
import { Confirmed } from '../../parts/buttons/confirmed.tsx'
import { QuietButton } from '../../parts/buttons/quiet-button.ts'
import { Decision } from '../../parts/decision.tsx'
import {
  type Draft,
  LongTextField,
  ObjectText,
  TextField,
  TextsField,
} from '../../parts/form/draft-fields.tsx'
import { type Fields, fieldsOf, textOf, unlessEmpty, withField } from '../../parts/form/fields.ts'
import { Failed, Loaded, layout, Page, Panel, Tag } from '../../parts/layout.tsx'
import { type PageTab, PageTabs } from '../../parts/page-tabs.tsx'
import { CopyCommand } from '../../parts/values.tsx'
import { defaultsOf, ParameterForm } from '../runs/parameter-form.tsx'
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

function StoredView({ name }: Readonly<{ name: string }>) {
  const query = useMethod('blueprints.show', { name }, { refetchInterval: 5_000 })
  return (
    <Loaded query={query} rows={8}>
      {({ blueprint }) => <BlueprintView key={blueprint.name} stored={blueprint} />}
    </Loaded>
  )
}

interface BlueprintViewProps {
  readonly stored: StoredBlueprint | undefined
}

function BlueprintView({ stored }: BlueprintViewProps) {
  const { tab = 'agent' } = route.useSearch()
  const navigate = route.useNavigate()
  const maySave = useMay('admin')
  const mayStart = useMay('operator')
  const [edited, setEdited] = useState<Fields>()
  /** Grows when the draft is thrown away, so that fields with text of their own start anew. */
  const [round, setRound] = useState(0)
  const reset = () => {
    setEdited(undefined)
    setRound(round + 1)
  }
  const value = edited ?? stored?.definition ?? newBlueprint
  const isReadOnly = !maySave || stored?.source === 'file'
  const draft = {
    value,
    set: (name: string, given: unknown) => setEdited(withField(value, name, given)),
    isReadOnly,
  }
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
      purpose={textOf(value.description) || 'An agent that Hookhelm starts.'}
      actions={
        stored === undefined ? null : (
          <Link to="/runs" search={{ agent: stored.name }}>
            Its runs
          </Link>
        )
      }
    >
      <SaveBar stored={stored} draft={draft} isEdited={edited !== undefined} onSaved={reset} />
      <PageTabs
        key={round}
        chosen={tab}
        onChoose={(name) => void navigate({ to: '.', search: { tab: name }, replace: true })}
        tabs={[
          ...draftTabs(draft, stored === undefined, setEdited),
          ...(stored === undefined ? [] : [startTab(stored, edited !== undefined, mayStart)]),
        ]}
      />
    </Page>
  )
}

function originOf({ source, version }: StoredBlueprint): string {
  if (source === 'builtin') return 'built-in'
  return source === 'file' ? 'from a file' : `version ${version}`
}

function draftTabs(draft: Draft, isNew: boolean, replace: (value: Fields) => void): readonly PageTab[] {
  const { value, set, isReadOnly = false } = draft
  return [
    { name: 'agent', title: 'Agent', content: <AgentForm draft={draft} isNew={isNew} /> },
    {
      name: 'hooks',
      title: 'Hooks',
      content: (
        <HooksTab
          hooks={fieldsOf(value.hooks)}
          isReadOnly={isReadOnly}
          onChange={(hooks) => set('hooks', unlessEmpty(hooks))}
        />
      ),
    },
    { name: 'schemas', title: 'Parameters and result', content: <Schemas draft={draft} /> },
    {
      name: 'json',
      title: 'JSON',
      content: (
        <Panel title="The whole blueprint">
          <div className={layout.form}>
            <ObjectText
              label="Blueprint as JSON"
              rows={18}
              value={value}
              isDisabled={isReadOnly}
              onChange={replace}
            />
          </div>
        </Panel>
      ),
    },
  ]
}

function startTab(
  { name, version, definition }: StoredBlueprint,
  isEdited: boolean,
  mayStart: boolean,
): PageTab {
  const content = (
    <Panel title={`Start ${name}`}>
      <div className={layout.form}>
        {isEdited ? (
          <p className={styles.empty}>The run uses version {version}, without your changes.</p>
        ) : null}
        <RunForm agent={name} schema={definition.parameters_schema} given={undefined} />
      </div>
    </Panel>
  )
  return { name: 'start', title: 'Start', content, isHidden: !mayStart }
}

function saveTitle(stored: StoredBlueprint | undefined): string {
  if (stored === undefined) return 'Save'
  return stored.source === 'builtin' ? 'Replace the built-in agent' : `Save version ${stored.version + 1}`
}

interface SaveBarProps extends BlueprintViewProps {
  readonly draft: Draft
  readonly isEdited: boolean
  readonly onSaved: () => void
}

/** Saving, deleting, what the gateway refused, and what it warned about. */
function SaveBar({ stored, draft: { value, isReadOnly }, isEdited, onSaved }: SaveBarProps) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const isBuiltIn = stored?.source === 'builtin'
  // A saved agent replaces the built-in one of its name.
  const isNew = stored === undefined || isBuiltIn
  const save = useAction(isNew ? 'blueprints.create' : 'blueprints.update', {
    onSuccess: async ({ blueprint }) => {
      queries.setQueryData(keyOf('blueprints.show', { name: blueprint.name }), { blueprint })
      onSaved()
      if (stored === undefined)
        await navigate({ to: '/agents/$name', params: { name: blueprint.name }, search: (now) => now })
    },
  })
  const remove = useAction('blueprints.delete', {
    onSuccess: () => navigate({ to: '/agents', search: { tab: 'blueprints' } }),
  })
  const why =
    stored?.source === 'file'
      ? 'It comes from a file: change the file.'
      : 'You can read this agent, but not change it.'
  if (isReadOnly) return <p className={styles.empty}>{why}</p>
  return (
    <div className={styles.save}>
      <Group gap="xs">
        <Button
          size="xs"
          disabled={stored !== undefined && !isEdited}
          loading={save.isPending}
          onClick={() =>
            save.mutate(
              isNew
                ? { ...value, name: textOf(value.name) }
                : { ...replacementOf(stored.definition, value), name: stored.name, version: stored.version },
            )
          }
        >
          {saveTitle(stored)}
        </Button>
        {!isEdited || stored === undefined ? null : (
          <QuietButton onClick={onSaved}>Discard changes</QuietButton>
        )}
        {isNew ? null : (
          <Confirmed
            isBig
            word="Delete"
            sure={`Delete ${stored.name} and its hooks: its runs stay`}
            onDo={() => remove.mutate({ name: stored.name })}
          />
        )}
        {stored === undefined ? null : <CopyCommand text={`hookhelm blueprints show ${stored.name}`} />}
      </Group>
      {(isEdited ? [] : (save.data?.warnings ?? [])).map((warning) => (
        <p key={warning} className={styles.warning}>
          <Decision outcome="opened">{warning}</Decision>
        </p>
      ))}
      <Failed error={save.error ?? remove.error} isPlaceShown />
    </div>
  )
}

function AgentForm({ draft, isNew }: Readonly<{ draft: Draft; isNew: boolean }>) {
  const { value, set, isReadOnly = false } = draft
  return (
    <div className={layout.columns}>
      <Panel title="What it is">
        <div className={layout.form}>
          <TextField
            draft={draft}
            name="name"
            label="Name"
            disabled={!isNew}
            description={isNew ? undefined : 'The name of a saved agent stays.'}
            required
          />
          <div>
            <span className={styles.label}>Type</span>
            <SegmentedControl
              size="xs"
              aria-label="Type"
              disabled={isReadOnly}
              data={['procedural', 'autonomous']}
              value={textOf(value.type) || 'procedural'}
              onChange={(type) => set('type', type)}
            />
          </div>
          <LongTextField draft={draft} name="description" label="Description" minRows={2} />
          {value.type === 'autonomous' ? (
            <>
              <LongTextField draft={draft} name="system_prompt" label="System prompt" minRows={4} />
              <TextField draft={draft} name="model" label="Model" />
              <TextsField draft={draft} name="tools" label="Tools" />
            </>
          ) : null}
        </div>
      </Panel>
      <ExecutorForm draft={draft} />
    </div>
  )
}

function Schemas({ draft: { value, set, isReadOnly = false } }: Readonly<{ draft: Draft }>) {
  return (
    <div className={layout.columns}>
      <div className={layout.stack}>
        {(['parameters_schema', 'output_schema'] as const).map((name) => {
          const title = name === 'parameters_schema' ? 'Parameters' : 'Result'
          return (
            <Panel key={name} title={title} aside={<code>{name}</code>}>
              <SchemaEditor
                label={title}
                value={value[name]}
                isReadOnly={isReadOnly}
                onChange={(schema) => set(name, schema)}
              />
            </Panel>
          )
        })}
      </div>
      <FormPreview schema={value.parameters_schema} />
    </div>
  )
}

/** The form that people get who start a run. */
function FormPreview({ schema }: Readonly<{ schema: unknown }>) {
  const [value, setValue] = useState<Fields>(() => defaultsOf(schema))
  return (
    <Panel title="The form of a run" aside="as the schema draws it">
      <div className={layout.form}>
        <ParameterForm schema={schema} value={value} onChange={setValue} />
      </div>
    </Panel>
  )
}
