import { describeConditions } from '../../../../src/engine/match/describe-conditions.ts'
import type { Result } from '../../gateway/call.ts'
import { Facts } from '../../parts/facts.tsx'
import { formatDuration, placeOf } from '../../parts/format.ts'
import { Loaded, layout, Panel } from '../../parts/layout.tsx'
import { Age, Id } from '../../parts/values.tsx'
import { useHookCounts } from '../hooks/hook-counts.tsx'
import styles from './hook.module.css'
import type { ShownHook } from './hook-page.tsx'

const printedText = {
  exact: 'an invalid answer',
  strict: 'a log',
  lenient: 'a log, also if it looks like an answer',
  ignore: 'not read',
} as const

/** What becomes of text that is no answer, for the handlers that read what another program prints. */
function printedFact({ handler_type, answer }: ShownHook): readonly (readonly [string, string])[] {
  const reads = handler_type === 'command' || handler_type === 'http'
  return reads ? [['Text that it prints', printedText[answer ?? 'strict']]] : []
}

/** Event, type, scope and matcher at a glance, and what the hook did today. */
interface HookOverviewProps {
  readonly hook: ShownHook
  readonly inFile: Result<'hooks.effective'>['hooks'][number] | undefined
}

export function HookOverview({ hook, inFile }: HookOverviewProps) {
  const counts = useHookCounts()
  const facts: readonly (readonly [string, React.ReactNode])[] = [
    ['Event', <code key="event">{hook.event}</code>],
    ['Handler', hook.handler_type],
    ['In', inFile && <code key="file">{placeOf(inFile.source)}</code>],
    ['Counts in', inFile?.source.folder && <code key="folder">{inFile.source.folder}</code>],
    ['Scope', hook.scope === 'agent' ? `agents ${hook.agent_ids?.join(', ')}` : hook.scope],
    ['Applies to', <code key="matcher">{describeConditions({ ...hook, if_expr: '' })}</code>],
    ['Only if', hook.if_expr === undefined ? 'always' : <code key="if">{hook.if_expr}</code>],
    [
      'State',
      hook.enabled !== false
        ? hook.shadow
          ? 'shadow: recorded, not applied'
          : 'on'
        : `off ${hook.disabled_reason ?? ''}`,
    ],
    ['Priority', String(hook.priority ?? 0)],
    ['Timeout', hook.timeout_ms === undefined ? 'of the event' : formatDuration(hook.timeout_ms)],
    ['If it times out', hook.on_timeout ?? 'block'],
    ['If it fails', hook.on_error ?? 'block'],
    ...printedFact(hook),
    ['Tags', hook.tags === undefined ? 'none' : hook.tags.join(', ')],
    ['Made', hook.created_at && <Age key="made" at={hook.created_at} />],
    ['Changed', hook.updated_at && <Age key="changed" at={hook.updated_at} />],
    ['Id', <Id key="id" value={hook.id} />],
  ]
  return (
    <div className={layout.columns}>
      <Panel title="What it is">
        <Facts facts={facts} className={styles.facts} />
      </Panel>
      <Panel title="What it did" aside="24 h">
        <Loaded query={counts} rows={3}>
          {({ hooks }) => {
            const found = hooks.find(({ hook_id }) => hook_id === hook.id)
            return (
              <Facts
                facts={[
                  ['matched', found?.matched ?? 0],
                  ['blocked', found?.block ?? 0],
                  ['asked', found?.ask ?? 0],
                  ['rewrote', found?.rewrite ?? 0],
                  ['failed', found?.failed ?? 0],
                  ['p95', found?.p95_ms == null ? 'no run' : formatDuration(found.p95_ms)],
                ]}
                className={styles.facts}
              />
            )
          }}
        </Loaded>
      </Panel>
    </div>
  )
}
