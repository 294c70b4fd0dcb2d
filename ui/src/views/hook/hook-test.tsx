import { Button, Select, Textarea, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useMay } from '../../frame/caller.ts'
import { type Result, unchecked } from '../../gateway/call.ts'
import { useAction } from '../../gateway/use-action.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { Decision } from '../../parts/decision.tsx'
import { Facts } from '../../parts/facts.tsx'
import { CodeEditor } from '../../parts/form/code-editor.tsx'
import { readJson, textOf } from '../../parts/form/fields.ts'
import { formatClock, formatDuration, showControls } from '../../parts/format.ts'
import { Diff, printJson, Text } from '../../parts/json.tsx'
import { Empty, Failed, layout, Panel } from '../../parts/layout.tsx'
import { Terms } from '../event/chain.tsx'
import styles from './hook.module.css'
import { executionOutcomes } from './hook-history.tsx'
import { type HookDraft, toInput } from './hook-schema.ts'
import { type RecordedSample, useRecordedSample } from './recorded-sample.ts'

type TestResult = Result<'hooks.test'>['result']

interface HookTestProps {
  readonly draft: HookDraft
  /** The hook that is tried as it is in force; undefined for a draft. */
  readonly hookId: string | undefined
  readonly isEdited: boolean
  /** A recorded event to fire at. */
  readonly from: string | undefined
}

/** Fires the hook at a sample. It really runs; nothing is recorded. */
export function HookTest({ draft, hookId, isEdited, from }: HookTestProps) {
  const mayTest = useMay('operator')
  const recorded = useRecordedSample(from)
  const [typed, setTyped] = useState<Partial<Sample>>({})
  const sample: Sample = { ...builtInSample, ...textsOf(recorded), ...typed }
  const test = useAction('hooks.test')
  const { value: toolInput, problem } = readJson(sample.input)
  const fire = () =>
    test.mutate(
      unchecked({
        hookId,
        config: hookId === undefined || isEdited ? { scope: 'tenant', ...toInput(draft) } : undefined,
        sampleEvent: { toolName: sample.tool, toolInput, rawInput: sample.prompt || undefined },
      }),
    )
  return (
    <div className={layout.stack}>
      <div className={layout.columns}>
        <Panel title="Sample event" aside="it really runs; nothing is recorded">
          <div className={layout.form}>
            <RecordedEvents event={draft.event} from={from} hookId={hookId ?? 'new'} />
            <SampleFields sample={sample} onChange={(part) => setTyped({ ...typed, ...part })} />
            {mayTest ? (
              <Button
                className={styles.fire ?? ''}
                disabled={problem !== undefined}
                loading={test.isPending}
                onClick={fire}
              >
                Fire
              </Button>
            ) : (
              <p className={styles.note}>Firing needs the role operator.</p>
            )}
          </div>
        </Panel>
        <div className={layout.stack}>
          <Failed error={test.error} />
          {test.data === undefined ? (
            <Panel title="Result">
              <Empty title="Not fired yet">The decision, its time, output and reason appear here.</Empty>
            </Panel>
          ) : (
            <TestReport result={test.data.result} />
          )}
        </div>
      </div>
      {test.data === undefined ? null : (
        <Rewrite result={test.data.result} before={test.variables?.sampleEvent?.toolInput} />
      )}
    </div>
  )
}

interface Sample {
  readonly tool: string
  readonly input: string
  readonly prompt: string
}

const builtInSample: Sample = {
  tool: 'Bash',
  input: '{\n  "command": "git push --force origin main"\n}',
  prompt: '',
}

function textsOf(sample: RecordedSample | undefined): Partial<Sample> {
  if (sample === undefined) return {}
  return { tool: sample.tool ?? '', input: printJson(sample.input), prompt: sample.prompt ?? '' }
}

function SampleFields({
  sample: { tool, input, prompt },
  onChange,
}: Readonly<{ sample: Sample; onChange: (part: Partial<Sample>) => void }>) {
  return (
    <>
      <TextInput
        label="Tool"
        value={tool}
        onChange={({ currentTarget }) => onChange({ tool: currentTarget.value })}
      />
      <CodeEditor
        label="Tool input"
        language="json"
        problem={readJson(input).problem === undefined ? undefined : 'This is not JSON'}
        value={input}
        onChange={(text) => onChange({ input: text })}
      />
      <Textarea
        label="Prompt, for events that have one"
        value={prompt}
        onChange={({ currentTarget }) => onChange({ prompt: currentTarget.value })}
      />
    </>
  )
}

/** The latest events that the hook listens to. The chosen one stands in the address. */
function RecordedEvents({
  event,
  from,
  hookId,
}: Readonly<{ event: unknown; from: string | undefined; hookId: string }>) {
  const navigate = useNavigate()
  const name = textOf(event)
  const query = useMethod('events.list', { event: name, limit: 50 })
  const events = query.data?.events ?? []
  return (
    <Select
      label="Recorded event"
      placeholder={events.length === 0 ? 'none recorded yet' : 'the built-in sample'}
      data={events.map(({ event_id, what, created_at }) => ({
        value: event_id,
        label: `${formatClock(created_at)}  ${showControls((what ?? name).slice(0, 90))}`,
      }))}
      value={events.some(({ event_id }) => event_id === from) ? (from ?? null) : null}
      onChange={(chosen) =>
        void navigate({
          to: '/hooks/$hookId',
          params: { hookId },
          search: { tab: 'test', from: chosen ?? undefined },
          replace: true,
        })
      }
      searchable
      clearable
    />
  )
}

/** What the hook would change in the input that was fired. */
function Rewrite({
  result: { updatedInput },
  before,
}: Readonly<{ result: TestResult & { readonly updatedInput?: unknown }; before: unknown }>) {
  if (updatedInput === undefined) return null
  return (
    <Panel title="Input" aside="before and after">
      <Diff before={before} after={updatedInput} />
    </Panel>
  )
}

function TestReport({ result }: Readonly<{ result: TestResult }>) {
  const { decision, matched, matcherMatched, terms, stdout, stderr } = result
  const facts: readonly (readonly [string, ReactNode])[] = [
    ['matched', matched ? 'yes' : 'no: the handler did not run'],
    ['applies to it', matcherMatched === undefined ? undefined : matcherMatched ? 'yes' : 'no'],
    ['condition', terms === undefined ? undefined : <Terms key="terms" terms={terms} />],
    ['duration', formatDuration(result.durationMs)],
    ['status code', result.statusCode],
    ['exit code', result.exitCode],
    ['reason', result.reason || undefined],
    ['error', result.error],
    ['code', result.code],
    ['hint', result.hint],
  ]
  return (
    <>
      <Panel title="Result" aside={<Decision outcome={executionOutcomes[decision]}>{decision}</Decision>}>
        <Facts facts={facts} className={styles.facts} />
      </Panel>
      {Object.entries({ stdout, stderr }).map(([name, text]) =>
        text === '' ? null : (
          <Panel key={name} title={name}>
            <Text text={text} />
          </Panel>
        ),
      )}
    </>
  )
}
