import { Button, Group } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../frame/caller.ts'
import { GatewayError, unchecked } from '../../gateway/call.ts'
import { useAction } from '../../gateway/use-action.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { Confirmed } from '../../parts/buttons/confirmed.tsx'
import { QuietButton } from '../../parts/buttons/quiet-button.ts'
import { DraftText } from '../../parts/form/draft-text.tsx'
import { type Fields, readFields } from '../../parts/form/fields.ts'
import { TwoWay } from '../../parts/form/two-way.tsx'
import { printJson } from '../../parts/json.tsx'
import { Empty, Failed, Loaded, LoadedList, layout, Page, Panel, Tag } from '../../parts/layout.tsx'
import { FiringRow } from '../recovery/firing-list.tsx'
import styles from '../recovery/recovery.module.css'
import {
  describeRule,
  draftOf,
  type ListedRule,
  NEW_RULE,
  newRule,
  noProblems,
  type Problems,
  problemsOf,
  STORED,
  updateOf,
} from './rule-draft.ts'
import { RuleForm, type RuleFormProps } from './rule-form.tsx'
import { EventPicker, SimulatedRules } from './simulation.tsx'

const route = getRouteApi('/recovery/rules/$ruleId')

/** One rule: its form or JSON, what it would do to a recorded event, and its firings. */
export function RulePage() {
  const { ruleId } = route.useParams()
  const { source = STORED } = route.useSearch()
  const query = useMethod('rules.list')
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

function RuleView({ stored }: Readonly<{ stored: ListedRule | undefined }>) {
  const maySave = useMay('admin')
  const [edited, setEdited] = useState<Fields>()
  const [refusal, setRefusal] = useState<GatewayError>()
  const draft = edited ?? (stored === undefined ? newRule : draftOf(stored))
  const isReadOnly = !maySave || (stored !== undefined && stored.source !== STORED)
  const check = useSimulation(draft, { event: 'post_tool_use_failure' }, { enabled: edited !== undefined })
  const problems =
    edited === undefined && refusal === undefined ? noProblems : problemsOf(check.error ?? refusal)
  const change = (next: Fields) => {
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
      {isReadOnly ? <WhyReadOnly stored={stored} /> : null}
      <div className={layout.columns}>
        <RuleEditor
          draft={draft}
          onChange={change}
          isReadOnly={isReadOnly}
          isNew={stored === undefined}
          problems={problems}
        />
        <div className={layout.stack}>
          <Proof draft={draft} />
          {stored === undefined ? null : <LastFirings rule={stored} />}
        </div>
      </div>
    </Page>
  )
}

function WhyReadOnly({ stored }: Readonly<{ stored: ListedRule | undefined }>) {
  return (
    <p className={styles.readOnly}>
      {stored !== undefined && stored.source !== STORED ? (
        <>
          It comes from a file, so it is changed there: <code>{stored.source}</code>
        </>
      ) : (
        'You can read this rule, but not change it.'
      )}
    </p>
  )
}

/** The draft as a form or as JSON. */
function RuleEditor(props: RuleFormProps) {
  const { draft, onChange, isReadOnly, problems } = props
  const [isText, setText] = useState(false)
  return (
    <Panel
      title="When and what"
      aside={<TwoWay label="Form or JSON" words={['Form', 'JSON']} isSecond={isText} onChange={setText} />}
    >
      <div className={layout.form}>
        {isText ? (
          <DraftText
            label="The rule as JSON"
            language="json"
            value={draft}
            print={printJson}
            read={readFields}
            onChange={onChange}
            isReadOnly={isReadOnly}
            problem={listProblems(problems)}
          />
        ) : (
          <RuleForm {...props} />
        )}
      </div>
    </Panel>
  )
}

/** The gateway checks the draft, and says what it would do to an event. */
function useSimulation(draft: Fields, event: Fields, { enabled = true } = {}) {
  const [rule] = useDebouncedValue(draft, 400)
  const options = { placeholderData: keepPreviousData, retry: false, enabled }
  return useMethod('rules.simulate', unchecked({ ...event, rule }), options)
}

/** Every problem on a line of its own, with the path of its field. */
function listProblems(problems: Problems): string | undefined {
  const lines = [...problems].map(([path, problem]) => `${path}: ${problem.replace(`${path}: `, '')}`)
  return lines.join('\n') || undefined
}

interface RuleActionsProps {
  readonly stored: ListedRule | undefined
  readonly draft: Fields
  readonly isEdited: boolean
  readonly onSaved: () => void
  readonly onRefused: (refusal: GatewayError) => void
}

function RuleActions({ stored, draft, isEdited, onSaved, onRefused }: RuleActionsProps) {
  const navigate = useNavigate()
  const save = useAction(stored === undefined ? 'rules.create' : 'rules.update', {
    onError: (error) => {
      if (error instanceof GatewayError) onRefused(error)
    },
  })
  const toggle = useAction('rules.toggle')
  const remove = useAction('rules.delete', { onSuccess: () => navigate({ to: '/recovery' }) })
  const saveDraft = () =>
    save.mutate(unchecked(stored === undefined ? draft : updateOf(stored, draft)), {
      onSuccess: ({ rule }) => {
        onSaved()
        if (stored === undefined)
          void navigate({ to: '/recovery/rules/$ruleId', params: { ruleId: rule.id }, replace: true })
      },
    })
  return (
    <Group gap="xs" justify="flex-end">
      {stored === undefined ? null : (
        <>
          <QuietButton onClick={() => toggle.mutate({ id: stored.id, enabled: !stored.enabled })}>
            {stored.enabled ? 'Switch off' : 'Switch on'}
          </QuietButton>
          <Confirmed
            word="Delete"
            sure={`Delete ${stored.id}: its failures stay unanswered`}
            onDo={() => remove.mutate({ id: stored.id })}
          />
        </>
      )}
      {isEdited && stored !== undefined ? <QuietButton onClick={onSaved}>Discard changes</QuietButton> : null}
      <Button
        size="xs"
        disabled={stored !== undefined && !isEdited}
        loading={save.isPending}
        onClick={saveDraft}
      >
        {stored === undefined ? 'Save' : `Save version ${(stored.version ?? 0) + 1}`}
      </Button>
      <Failed error={save.error ?? toggle.error ?? remove.error} />
    </Group>
  )
}

/** Live proof: what the draft would do to a recorded event. */
function Proof({ draft }: Readonly<{ draft: Fields }>) {
  const mayUse = useMay('operator')
  const { from } = route.useSearch()
  const navigate = route.useNavigate()
  const pick = (eventId: string | undefined) =>
    void navigate({ to: '.', search: (now) => ({ ...now, from: eventId }), replace: true })
  if (!mayUse) return null
  return (
    <Panel title="Simulate" aside="nothing happens">
      <div className={layout.form}>
        <EventPicker from={from} onPick={pick} />
      </div>
      {from === undefined ? null : <ProofAnswer draft={draft} from={from} />}
    </Panel>
  )
}

function ProofAnswer({ draft, from }: Readonly<{ draft: Fields; from: string }>) {
  // The id may come last: it changes nothing about the answer.
  const named = typeof draft.id === 'string' && draft.id !== '' ? draft : { ...draft, id: 'draft' }
  const query = useSimulation(named, { event_id: from })
  if (query.error !== null) return <p className={styles.note}>The rule is not complete yet.</p>
  return (
    <Loaded query={query} rows={3}>
      {(simulation) => <SimulatedRules simulation={simulation} />}
    </Loaded>
  )
}

function LastFirings({ rule: { id, source } }: Readonly<{ rule: ListedRule }>) {
  const query = useMethod('rules.history', { rule_id: id, limit: 20 })
  return (
    <Panel title="Last firings">
      <LoadedList
        query={query}
        rows={2}
        of={({ firings }) => firings.filter((firing) => firing.source === source)}
        empty={<Empty title="It has not fired yet" />}
      >
        {(firing) => <FiringRow key={firing.firing_id} firing={firing} />}
      </LoadedList>
    </Panel>
  )
}
