import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../frame/caller.ts'
import { unchecked } from '../../gateway/call.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { CodeEditor } from '../../parts/form/code-editor.tsx'
import { type Fields, readFields } from '../../parts/form/fields.ts'
import { TwoWay } from '../../parts/form/two-way.tsx'
import { Empty, Failed, Loaded, layout, Panel } from '../../parts/layout.tsx'
import { CopyCommand } from '../../parts/values.tsx'
import { eventNames } from '../hook/hook-schema.ts'
import { EventPicker, SimulatedRules } from './simulation.tsx'

/** Asks every rule what it would do, for a recorded event or one that a person writes. */
export function SimulateTab({ from }: Readonly<{ from: string | undefined }>) {
  const navigate = useNavigate()
  const mayUseRecorded = useMay('operator')
  const [isWritten, setWritten] = useState(!mayUseRecorded)
  const [event, setEvent] = useState('post_tool_use_failure')
  const [text, setText] = useState('{\n  "tool_name": "Edit",\n  "error": "permission denied"\n}')
  const { value: payload } = readFields(text)
  const written = payload && { event, payload }
  const recorded = from === undefined ? undefined : { event_id: from }
  const params = isWritten ? written : recorded
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
            <TwoWay
              label="Recorded or written"
              words={['Recorded', 'Written']}
              isSecond={isWritten}
              onChange={setWritten}
            />
          ) : undefined
        }
      >
        <div className={layout.form}>
          {isWritten ? (
            <WrittenEvent event={event} onEvent={setEvent} text={text} onText={setText} />
          ) : (
            <EventPicker
              from={from}
              onPick={(eventId) =>
                void navigate({
                  to: '/recovery',
                  search: { tab: 'simulate', from: eventId },
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

interface WrittenEventProps {
  readonly event: string
  readonly onEvent: (event: string) => void
  readonly text: string
  readonly onText: (text: string) => void
}

function WrittenEvent({ event, onEvent, text, onText }: WrittenEventProps) {
  return (
    <>
      <Select
        label="Event"
        data={['hook_failure', ...eventNames]}
        value={event}
        allowDeselect={false}
        onChange={(value) => onEvent(value ?? event)}
        searchable
      />
      <CodeEditor
        label="Payload"
        language="json"
        minLines={8}
        value={text}
        problem={readFields(text).problem}
        onChange={onText}
      />
    </>
  )
}

function Answer({ params }: Readonly<{ params: Fields }>) {
  const [settled] = useDebouncedValue(params, 250)
  const query = useMethod('rules.simulate', unchecked(settled), { placeholderData: keepPreviousData })
  if (query.error !== null) return <Failed error={query.error} onRetry={() => query.refetch()} />
  return (
    <Loaded query={query} rows={4}>
      {(simulation) => <SimulatedRules simulation={simulation} />}
    </Loaded>
  )
}
