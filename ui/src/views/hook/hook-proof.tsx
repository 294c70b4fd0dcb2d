import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type Result, unchecked } from '../../gateway/call.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { Decision } from '../../parts/decision.tsx'
import { plural } from '../../parts/format.ts'
import { Empty, Failed, Loaded, layout, Meter, Panel } from '../../parts/layout.tsx'
import { Age, Code } from '../../parts/values.tsx'
import styles from './hook.module.css'
import { type HookDraft, toInput } from './hook-schema.ts'

type Preview = Result<'hooks.preview'>

/** Tries the conditions of a draft on recorded events, shortly after the last key. */
export function usePreview(draft: HookDraft, isEnabled: boolean) {
  const [settled] = useDebouncedValue(draft, 300)
  const hook = { scope: 'tenant', ...toInput(settled) }
  return useMethod('hooks.preview', unchecked({ hook, limit: 500 }), {
    enabled: isEnabled,
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  })
}

/** What the conditions would have matched, updated as one types. */
export function HookProof({ preview }: Readonly<{ preview: ReturnType<typeof usePreview> }>) {
  return (
    <Panel title="Against the last 500 events" aside="updates as you type">
      {preview.error !== null ? (
        <Failed error={preview.error} />
      ) : (
        <Loaded query={preview} rows={4}>
          {(found) =>
            found.checked === 0 ? (
              <Empty title="No event of this kind was recorded yet">
                The proof appears with the first one.
              </Empty>
            ) : (
              <>
                <Figures preview={found} />
                {matchesFirst(found.rows).map((row) => (
                  <ProofRow key={row.event_id} row={row} />
                ))}
              </>
            )
          }
        </Loaded>
      )}
    </Panel>
  )
}

function Figures({ preview: { checked, matched, changes } }: Readonly<{ preview: Preview }>) {
  const { block, ask, rewrite } = changes
  const free = matched - block - ask - rewrite
  const already = [
    block === 0 ? '' : `${block} blocked`,
    ask === 0 ? '' : `${ask} asked about`,
    rewrite === 0 ? '' : `${rewrite} rewritten`,
  ].filter((part) => part !== '')
  return (
    <div className={styles.figure}>
      <b>{matched}</b> of {checked} match
      {free > 0 ? (
        <>
          {' · '}
          <b className={styles.free}>{free}</b> of them passed untouched
        </>
      ) : null}
      <Meter max={checked} value={matched} label={`${matched} of ${checked} match`} />
      <span>
        {matched === 0
          ? 'Nothing would change.'
          : free > 0
            ? `The hook would decide about ${plural(free, 'event')} that no hook stopped or changed.`
            : 'A hook decided about each of them when it happened.'}
        {already.length > 0 ? ` ${already.join(', ')} then.` : ''}
      </span>
    </div>
  )
}

type PreviewRow = Preview['rows'][number]

function ProofRow({ row: { event_id, created_at, what, kind, would, why } }: Readonly<{ row: PreviewRow }>) {
  return (
    <Link
      to="/events/$eventId"
      params={{ eventId: event_id }}
      className={`${layout.row} ${styles.event}`}
      title={why}
    >
      <span className="faint">
        <Age at={created_at} />
      </span>
      <Code text={what ?? ''} />
      {would === 'match' ? (
        <span className={styles.match}>
          <Decision outcome={kind === 'allow' ? 'shadow' : kind}>match</Decision>
          {kind === 'allow' ? <b>new</b> : null}
        </span>
      ) : (
        <Decision outcome="skip">no match</Decision>
      )}
    </Link>
  )
}

/** A few rows: all matches that fit, then what just misses. */
function matchesFirst(rows: readonly PreviewRow[]): readonly PreviewRow[] {
  const [matches, others] = ['match', 'no match'].map((would) => rows.filter((row) => row.would === would))
  return [...(matches ?? []).slice(0, 9), ...(others ?? []).slice(0, 3)]
}
