import type { Result } from '../../gateway/call.ts'
import { useRefreshOnEvents } from '../../gateway/changes.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { Meter } from '../../parts/layout.tsx'

export type HookCounts = Result<'stats.hooks'>['hooks'][number]

/** What each hook did in the last day. */
export function useHookCounts() {
  useRefreshOnEvents(['stats.hooks'])
  return useMethod('stats.hooks')
}

/** How many calls a hook stopped or changed. */
export function decidedOf({ block, ask, rewrite }: Pick<HookCounts, 'block' | 'ask' | 'rewrite'>): number {
  return block + ask + rewrite
}

/** Of the calls that a hook matched, those that it decided. */
export function DecidedMeter({ counts, isShadow }: Readonly<{ counts: HookCounts; isShadow: boolean }>) {
  const { matched, block, ask } = counts
  return (
    <Meter
      max={matched}
      value={decidedOf(counts)}
      label={`decided ${decidedOf(counts)} of ${matched} matches`}
      look={isShadow ? 'shadow' : block > 0 ? 'block' : ask > 0 ? 'ask' : 'rewrite'}
    />
  )
}
