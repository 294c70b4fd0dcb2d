import { Button, Select, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { Methods } from '../../../../src/client/index.ts'
import { useMay } from '../../frame/caller.ts'
import { call, callWithDraft } from '../../gateway/call.ts'
import { parseExactJson } from '../../gateway/exact-json.ts'
import { Terms } from '../../parts/chain.tsx'
import { CodeEditor } from '../../parts/code-editor.tsx'
import { Decision, type Outcome } from '../../parts/decision.tsx'
import { formatClock, formatDuration, showControls } from '../../parts/format.ts'
import { Diff, printJson, Text } from '../../parts/json.tsx'
import { Empty, Failed, layout, Panel } from '../../parts/layout.tsx'
import styles from './hook-config.module.css'
import overview from './hook-overview.module.css'
import type { StoredHook } from './hook-page.tsx'
import { type HookDraft, toInput } from './hook-schema.ts'
import { type RecordedSample, useRecordedSample } from './recorded-sample.ts'

type TestResult = Methods['hooks.test']['result']['result']

interface HookTestProps {
  readonly draft: HookDraft
  readonly stored: StoredHook | undefined
  readonly isEdited: boolean
  /** A recorded event to fire at. */
  readonly from: string | undefined
}

/** Fires the hook at a sample. It really runs; nothing is recorded. */
export function HookTest({ draft, stored, isEdited, from }: HookTestProps) {
  const mayTest = useMay('operator')
  const sample = useRecordedSample(from)
  const [typed, setTyped] = useState<Partial<Sample>>({})
  const { tool, input, prompt } = { ...builtInSample, ...textsOf(sample), ...typed }
  const test = useMutation({
    mutationFn: async () => {
      const toolInput = parseExactJson(input)
      const { result } = await callWithDraft('hooks.test', {
        ...(stored === undefined ? {} : { hookId: stored.id }),
        ...(stored === undefined || isEdited ? { config: { scope: 'tenant', ...toInput(draft) } } : {}),
        sampleEvent: { toolName: tool, toolInput, ...(prompt === '' ? {} : { rawInput: prompt }) },
      })
      return { result, toolInput }
    },
  })
  return (
    <div className={layout.stack}>
      <div className={layout.columns}>
        <Panel title="Sample event" aside="it really runs; nothing is recorded">
          <div className={styles.form}>
            <RecordedEvents event={draft.event} from={from} hookId={stored?.id ?? 'new'} />
            <TextInput
              label="Tool"
              value={tool}
              onChange={({ currentTarget }) => setTyped({ ...typed, tool: currentTarget.value })}
            />
            <CodeEditor
              label="Tool input"
              language="json"
              problem={isJson(input) ? undefined : 'This is not JSON'}
              value={input}
              onChange={(text) => setTyped({ ...typed, input: text })}
            />
            <Textarea
              label="Prompt, for events that have one"
              value={prompt}
              onChange={({ currentTarget }) => setTyped({ ...typed, prompt: currentTarget.value })}
            />
            {mayTest ? (
              <Button
                className={styles.fire ?? ''}
                disabled={!isJson(input)}
                loading={test.isPending}
                onClick={() => test.mutate()}
              >
                Fire
              </Button>
            ) : (
              <p className={styles.note}>Firing needs the role operator.</p>
            )}
          </div>
        </Panel>
        <div className={layout.stack}>
          {test.error !== null ? <Failed error={test.error} /> : null}
          {test.data === undefined ? (
            <Panel title="Result">
              <Empty title="Not fired yet">The decision, its time, output and reason appear here.</Empty>
            </Panel>
          ) : (
            <Result result={test.data.result} />
          )}
        </div>
      </div>
      {test.data === undefined ? null : <Rewrite result={test.data.result} before={test.data.toolInput} />}
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

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

interface RecordedEventsProps {
  readonly event: unknown
  readonly from: string | undefined
  readonly hookId: string
}

/** The latest events that the hook listens to. The chosen one stands in the address. */
function RecordedEvents({ event, from, hookId }: RecordedEventsProps) {
  const navigate = useNavigate()
  const name = typeof event === 'string' ? event : ''
  const query = useQuery({
    queryKey: ['events', 'samples', name],
    queryFn: ({ signal }) => call('events.list', { event: name, limit: 50 }, signal),
  })
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
          search: { tab: 'test', ...(chosen === null ? {} : { from: chosen }) },
          replace: true,
        })
      }
      searchable
      clearable
    />
  )
}

const outcomes: Readonly<Record<TestResult['decision'], Outcome>> = {
  allow: 'allow',
  ask: 'ask',
  block: 'block',
  error: 'failed',
  timeout: 'failed',
  skipped: 'skip',
  late: 'skip',
  aborted: 'skip',
}

interface RewriteProps {
  readonly result: TestResult & { readonly updatedInput?: unknown }
  readonly before: unknown
}

/** What the hook would change in the input that was fired. */
function Rewrite({ result: { updatedInput }, before }: RewriteProps) {
  if (updatedInput === undefined) return null
  return (
    <Panel title="Input" aside="before and after">
      <Diff before={before} after={updatedInput} />
    </Panel>
  )
}

function Result({ result }: { readonly result: TestResult }) {
  const {
    decision,
    matched,
    matcherMatched,
    terms,
    durationMs,
    statusCode,
    exitCode,
    reason,
    error,
    code,
    hint,
    stdout,
    stderr,
  } = result
  const facts: readonly (readonly [string, ReactNode])[] = [
    ['matched', matched ? 'yes' : 'no: the handler did not run'],
    ['applies to it', matcherMatched === undefined ? undefined : matcherMatched ? 'yes' : 'no'],
    ['condition', terms === undefined ? undefined : <Terms key="terms" terms={terms} />],
    ['duration', formatDuration(durationMs)],
    ['status code', statusCode],
    ['exit code', exitCode],
    ['reason', reason === '' ? undefined : reason],
    ['error', error],
    ['code', code],
    ['hint', hint],
  ]
  return (
    <>
      <Panel title="Result" aside={<Decision outcome={outcomes[decision]}>{decision}</Decision>}>
        <dl className={overview.facts}>
          {facts.map(([name, value]) =>
            value === undefined ? null : (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ),
          )}
        </dl>
      </Panel>
      {stdout === '' ? null : (
        <Panel title="stdout">
          <Text text={stdout} />
        </Panel>
      )}
      {stderr === '' ? null : (
        <Panel title="stderr">
          <Text text={stderr} />
        </Panel>
      )}
    </>
  )
}
