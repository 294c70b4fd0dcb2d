import { Button, Group, SegmentedControl } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../frame/caller.ts'
import { call, callWithDraft, GatewayError } from '../../gateway/call.ts'
import { CodeEditor } from '../../parts/code-editor.tsx'
import { Confirmed } from '../../parts/confirmed.tsx'
import { printJson } from '../../parts/json.tsx'
import { Empty, Failed, Loaded, layout, Page, Panel, Tag } from '../../parts/layout.tsx'
import { FiringRows, useFirings } from './firing-list.tsx'
import styles from './recovery.module.css'
import {
  describeRule,
  draftOf,
  type ListedRule,
  NEW_RULE,
  newRule,
  noProblems,
  type Problems,
  problemsOf,
  type RuleDraft,
  STORED,
  updateOf,
} from './rule-draft.ts'
import { RuleForm } from './rule-form.tsx'
import { EventPicker, SimulatedRules } from './simulation.tsx'

const route = getRouteApi('/recovery/rules/$ruleId')

/** One rule: its form or JSON, what it would do to a recorded event, and its firings. */
export function RulePage() {
  const { ruleId } = route.useParams()
  const { source = STORED } = route.useSearch()
  const query = useQuery({ queryKey: ['rules'], queryFn: ({ signal }) => call('rules.list', {}, signal) })
  if (ruleId === NEW_RULE) return <RuleView stored={undefined} />
  return (
    <Loaded query={query} rows={8}>
      {({ rules }) => {
        const stored = rules.find((rule) => rule.id === ruleId && rule.source === source)
        return stored === undefined ? (
          <Page title={ruleId}>
            <Empty title="There is no such rule">It may have been deleted, or its file has changed.</Empty>
          </Page>
        ) : (
          <RuleView key={`${source} ${ruleId}`} stored={stored} />
        )
      }}
    </Loaded>
  )
}

function RuleView({ stored }: { readonly stored: ListedRule | undefined }) {
  const maySave = useMay('admin')
  const [edited, setEdited] = useState<RuleDraft>()
  const [refusal, setRefusal] = useState<GatewayError>()
  const [isText, setText] = useState(false)
  const draft = edited ?? (stored === undefined ? newRule : draftOf(stored))
  const isReadOnly = !maySave || (stored !== undefined && stored.source !== STORED)
  const check = useSimulation(draft, { isWanted: edited !== undefined })
  const problems =
    edited === undefined && refusal === undefined ? noProblems : problemsOf(check.error ?? refusal)
  const change = (next: RuleDraft) => {
    setRefusal(undefined)
    setEdited(next)
  }
  const title = stored?.id ?? 'New rule'
  const { when, does } = describeRule(draft)
  return (
    <Page
      title={title}
      heading={
        <Group gap="xs">
          {title}
          {stored === undefined ? null : (
            <Tag>{stored.source === STORED ? `version ${stored.version}` : 'from a file'}</Tag>
          )}
        </Group>
      }
      purpose={`${when} → ${does}`}
      actions={
        isReadOnly ? null : (
          <RuleActions
            stored={stored}
            draft={draft}
            isEdited={edited !== undefined}
            onSaved={() => setEdited(undefined)}
            onRefused={setRefusal}
          />
        )
      }
    >
      {isReadOnly ? (
        <p className={styles.readOnly}>
          {stored !== undefined && stored.source !== STORED ? (
            <>
              It comes from a file, so it is changed there: <code>{stored.source}</code>
            </>
          ) : (
            'You can read this rule, but not change it.'
          )}
        </p>
      ) : null}
      <div className={layout.columns}>
        <Panel
          title="When and what"
          aside={
            <SegmentedControl
              size="xs"
              aria-label="Form or JSON"
              data={['Form', 'JSON']}
              value={isText ? 'JSON' : 'Form'}
              onChange={(value) => setText(value === 'JSON')}
            />
          }
        >
          <div className={styles.form}>
            {isText ? (
              <RuleText draft={draft} onChange={change} isReadOnly={isReadOnly} problems={problems} />
            ) : (
              <RuleForm
                draft={draft}
                onChange={change}
                isReadOnly={isReadOnly}
                isNew={stored === undefined}
                problems={problems}
              />
            )}
          </div>
        </Panel>
        <div className={layout.stack}>
          <Proof draft={draft} />
          {stored === undefined ? null : <LastFirings rule={stored} />}
        </div>
      </div>
    </Page>
  )
}

interface SimulationOptions {
  readonly eventId?: string
  readonly isWanted?: boolean
}

/** The gateway checks the draft, and says what it would do to the chosen event. */
function useSimulation(draft: RuleDraft, { eventId, isWanted = true }: SimulationOptions) {
  const [rule] = useDebouncedValue(draft, 400)
  const about = eventId === undefined ? { event: 'post_tool_use_failure' } : { event_id: eventId }
  return useQuery({
    queryKey: ['rules', 'draft', rule, eventId ?? ''],
    queryFn: ({ signal }) => callWithDraft('rules.simulate', { ...about, rule }, signal),
    placeholderData: keepPreviousData,
    retry: false,
    enabled: isWanted,
  })
}

interface RuleTextProps {
  readonly draft: RuleDraft
  readonly onChange: (draft: RuleDraft) => void
  readonly isReadOnly: boolean
  readonly problems: Problems
}

/** The same draft as text. What cannot be read yet stays in the field and changes nothing. */
function RuleText({ draft, onChange, isReadOnly, problems }: RuleTextProps) {
  const [text, setText] = useState(() => printJson(draft))
  const [unreadable, setUnreadable] = useState<string>()
  const refused = [...problems].map(([path, problem]) => `${path}: ${problem.replace(`${path}: `, '')}`)
  const change = (typed: string) => {
    setText(typed)
    try {
      const value: unknown = JSON.parse(typed)
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        throw new Error('a rule is an object')
      setUnreadable(undefined)
      onChange({ ...value })
    } catch (error) {
      setUnreadable(`Not JSON yet: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return (
    <CodeEditor
      label="The rule as JSON"
      isLabelHidden
      language="json"
      minLines={18}
      isReadOnly={isReadOnly}
      value={text}
      problem={unreadable ?? (refused.length === 0 ? undefined : refused.join('\n'))}
      onChange={change}
    />
  )
}

interface RuleActionsProps {
  readonly stored: ListedRule | undefined
  readonly draft: RuleDraft
  readonly isEdited: boolean
  readonly onSaved: () => void
  readonly onRefused: (refusal: GatewayError) => void
}

function RuleActions({ stored, draft, isEdited, onSaved, onRefused }: RuleActionsProps) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const settled = { onSettled: () => queries.invalidateQueries({ queryKey: ['rules'] }) }
  const save = useMutation({
    mutationFn: () =>
      stored === undefined
        ? callWithDraft('rules.create', draft)
        : callWithDraft('rules.update', updateOf(stored, draft)),
    onError: (error) => {
      if (error instanceof GatewayError) onRefused(error)
    },
    onSuccess: async ({ rule }) => {
      await queries.invalidateQueries({ queryKey: ['rules'], exact: true })
      onSaved()
      if (stored === undefined)
        await navigate({ to: '/recovery/rules/$ruleId', params: { ruleId: rule.id }, replace: true })
    },
  })
  const toggle = useMutation({
    ...settled,
    mutationFn: () => call('rules.toggle', { id: stored?.id ?? '', enabled: stored?.enabled !== true }),
  })
  const remove = useMutation({
    ...settled,
    mutationFn: () => call('rules.delete', { id: stored?.id ?? '' }),
    onSuccess: () => navigate({ to: '/recovery' }),
  })
  const failure = save.error ?? toggle.error ?? remove.error
  return (
    <Group gap="xs" justify="flex-end">
      {stored === undefined ? null : (
        <>
          <Button variant="default" size="xs" onClick={() => toggle.mutate()}>
            {stored.enabled ? 'Switch off' : 'Switch on'}
          </Button>
          <Confirmed
            word="Delete"
            sure={`Delete ${stored.id}: its failures stay unanswered`}
            onDo={() => remove.mutate()}
          />
        </>
      )}
      {isEdited && stored !== undefined ? (
        <Button variant="default" size="xs" onClick={onSaved}>
          Discard changes
        </Button>
      ) : null}
      <Button
        size="xs"
        disabled={stored !== undefined && !isEdited}
        loading={save.isPending}
        onClick={() => save.mutate()}
      >
        {stored === undefined ? 'Save' : `Save version ${(stored.version ?? 0) + 1}`}
      </Button>
      {failure === null ? null : <Failed error={failure} />}
    </Group>
  )
}

/** Live proof: what the draft would do to a recorded event. */
function Proof({ draft }: { readonly draft: RuleDraft }) {
  const mayUse = useMay('operator')
  const { ruleId } = route.useParams()
  const { from, source } = route.useSearch()
  const navigate = useNavigate()
  const pick = (eventId: string | undefined) =>
    void navigate({
      to: '/recovery/rules/$ruleId',
      params: { ruleId },
      search: {
        ...(source === undefined ? {} : { source }),
        ...(eventId === undefined ? {} : { from: eventId }),
      },
      replace: true,
    })
  if (!mayUse) return null
  return (
    <Panel title="Simulate" aside="nothing happens">
      <div className={styles.form}>
        <EventPicker from={from} onPick={pick} />
      </div>
      {from === undefined ? null : <ProofAnswer draft={draft} from={from} />}
    </Panel>
  )
}

function ProofAnswer({ draft, from }: { readonly draft: RuleDraft; readonly from: string }) {
  // The id may come last: it changes nothing about the answer.
  const named = typeof draft.id === 'string' && draft.id !== '' ? draft : { ...draft, id: 'draft' }
  const query = useSimulation(named, { eventId: from })
  if (query.error !== null) return <p className={styles.note}>The rule is not complete yet.</p>
  return (
    <Loaded query={query} rows={3}>
      {(simulation) => <SimulatedRules simulation={simulation} />}
    </Loaded>
  )
}

function LastFirings({ rule: { id, source } }: { readonly rule: ListedRule }) {
  const query = useFirings({ rule_id: id, limit: 20 })
  return (
    <Panel title="Last firings">
      <Loaded query={query} rows={2}>
        {({ firings }) => {
          const own = firings.filter((firing) => firing.source === source)
          return own.length === 0 ? <Empty title="It has not fired yet" /> : <FiringRows firings={own} />
        }}
      </Loaded>
    </Panel>
  )
}
