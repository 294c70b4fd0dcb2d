import { Button, JsonInput, Textarea, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Methods } from '../../../../src/client/index.ts'
import { useMay } from '../../frame/caller.ts'
import { call } from '../../gateway/call.ts'
import { Decision, type Outcome } from '../../parts/decision.tsx'
import { formatDuration } from '../../parts/format.ts'
import { Diff, Text } from '../../parts/json.tsx'
import { Empty, Failed, layout, Panel } from '../../parts/layout.tsx'
import styles from './hook-config.module.css'
import overview from './hook-overview.module.css'
import type { StoredHook } from './hook-page.tsx'
import { type HookDraft, toInput } from './hook-schema.ts'

type TestResult = Methods['hooks.test']['result']['result']

interface HookTestProps {
  readonly draft: HookDraft
  readonly stored: StoredHook | undefined
  readonly isEdited: boolean
}

/** Fires the hook at a sample. It really runs; nothing is recorded. */
export function HookTest({ draft, stored, isEdited }: HookTestProps) {
  const mayTest = useMay('operator')
  const [tool, setTool] = useState('Bash')
  const [input, setInput] = useState('{\n  "command": "git push --force origin main"\n}')
  const [prompt, setPrompt] = useState('')
  const test = useMutation({
    mutationFn: () =>
      call('hooks.test', {
        ...(stored === undefined ? {} : { hookId: stored.id }),
        ...(stored === undefined || isEdited ? { config: { scope: 'tenant', ...toInput(draft) } } : {}),
        sampleEvent: {
          toolName: tool,
          toolInput: JSON.parse(input) as Record<string, unknown>,
          ...(prompt === '' ? {} : { rawInput: prompt }),
        },
      } as unknown as Methods['hooks.test']['params']),
  })
  return (
    <div className={layout.columns}>
      <Panel title="Sample event" aside="it really runs; nothing is recorded">
        <div className={styles.form}>
          <TextInput
            label="Tool"
            value={tool}
            onChange={({ currentTarget }) => setTool(currentTarget.value)}
          />
          <JsonInput
            label="Tool input"
            autosize
            minRows={4}
            validationError="This is not JSON"
            styles={{ input: { fontFamily: 'var(--mono)', fontSize: '12.5px' } }}
            value={input}
            onChange={setInput}
          />
          <Textarea
            label="Prompt, for events that have one"
            value={prompt}
            onChange={({ currentTarget }) => setPrompt(currentTarget.value)}
          />
          <Button disabled={!mayTest} loading={test.isPending} onClick={() => test.mutate()}>
            Fire
          </Button>
        </div>
      </Panel>
      <div className={layout.stack}>
        {test.error !== null ? <Failed error={test.error} /> : null}
        {test.data === undefined ? (
          <Panel title="Result">
            <Empty title="Not fired yet">The decision, its time, output and reason appear here.</Empty>
          </Panel>
        ) : (
          <Result result={test.data.result} input={input} />
        )}
      </div>
    </div>
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

function Result({
  result,
  input,
}: {
  readonly result: TestResult & { readonly updatedInput?: unknown }
  readonly input: string
}) {
  const {
    decision,
    matched,
    durationMs,
    statusCode,
    exitCode,
    reason,
    error,
    code,
    hint,
    stdout,
    stderr,
    updatedInput,
  } = result
  const facts: readonly (readonly [string, string | number | undefined])[] = [
    ['matched', matched ? 'yes' : 'no: the handler did not run'],
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
      {updatedInput === undefined ? null : (
        <Panel title="Input" aside="before and after">
          <Diff before={JSON.parse(input)} after={updatedInput} />
        </Panel>
      )}
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
