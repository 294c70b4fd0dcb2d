import { SegmentedControl, Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../frame/caller.ts'
import { callWithDraft } from '../../gateway/call.ts'
import { CodeEditor } from '../../parts/code-editor.tsx'
import { Empty, Failed, Loaded, layout, Panel } from '../../parts/layout.tsx'
import { CopyCommand } from '../../parts/values.tsx'
import { eventNames } from '../hooks/hook-schema.ts'
import styles from './recovery.module.css'
import { EventPicker, SimulatedRules } from './simulation.tsx'

/** Asks every rule what it would do, for a recorded event or one that a person writes. */
export function SimulateTab({ from }: { readonly from: string | undefined }) {
  const navigate = useNavigate()
  const mayUseRecorded = useMay('operator')
  const [isWritten, setWritten] = useState(!mayUseRecorded)
  const [event, setEvent] = useState('post_tool_use_failure')
  const [text, setText] = useState('{\n  "tool_name": "Edit",\n  "error": "permission denied"\n}')
  const payload = readObject(text)
  const params = isWritten
    ? payload === undefined
      ? undefined
      : { event, payload }
    : from === undefined
      ? undefined
      : { event_id: from }
  return (
    <div className={layout.columns}>
      <Panel title="What each rule would do" aside="nothing happens">
        {params === undefined ? (
          <Empty title="Choose an event">
            For each rule you see whether it matches, the first condition that fails, the guard that would
            stop it, and what each action would do.
          </Empty>
        ) : (
          <Answer params={params} />
        )}
      </Panel>
      <Panel
        title="Event"
        aside={
          mayUseRecorded ? (
            <SegmentedControl
              size="xs"
              aria-label="Recorded or written"
              data={['Recorded', 'Written']}
              value={isWritten ? 'Written' : 'Recorded'}
              onChange={(value) => setWritten(value === 'Written')}
            />
          ) : undefined
        }
      >
        <div className={styles.form}>
          {isWritten ? (
            <>
              <Select
                label="Event"
                data={['hook_failure', ...eventNames]}
                value={event}
                allowDeselect={false}
                onChange={(value) => setEvent(value ?? event)}
                searchable
              />
              <CodeEditor
                label="Payload"
                language="json"
                minLines={8}
                value={text}
                problem={payload === undefined ? 'Write an object as JSON' : undefined}
                onChange={setText}
              />
            </>
          ) : (
            <EventPicker
              from={from}
              onPick={(eventId) =>
                void navigate({
                  to: '/recovery',
                  search: { tab: 'simulate', ...(eventId === undefined ? {} : { from: eventId }) },
                  replace: true,
                })
              }
            />
          )}
          {isWritten ? (
            <CopyCommand text={`hookhelm rules simulate --event ${event} --payload '{}'`} />
          ) : from === undefined ? null : (
            <CopyCommand text={`hookhelm rules simulate --event-id ${from}`} />
          )}
        </div>
      </Panel>
    </div>
  )
}

function Answer({ params }: { readonly params: Readonly<Record<string, unknown>> }) {
  const [settled] = useDebouncedValue(params, 250)
  const query = useQuery({
    queryKey: ['rules', 'simulation', settled],
    queryFn: ({ signal }) => callWithDraft('rules.simulate', settled, signal),
    placeholderData: keepPreviousData,
  })
  if (query.error !== null) return <Failed error={query.error} onRetry={() => query.refetch()} />
  return (
    <Loaded query={query} rows={4}>
      {(simulation) => <SimulatedRules simulation={simulation} />}
    </Loaded>
  )
}

function readObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}
