import { agentId } from '../access/agent-id.ts'
import { HookError } from '../engine/core/errors/error.ts'
import { serverError } from '../engine/core/errors/server-errors.ts'
import type { AnalyzeShell } from '../engine/core/shell-effects.ts'
import { definedFields } from '../engine/core/values/defined-fields.ts'
import { catalogue } from '../engine/events/catalogue.ts'
import { explainMatch } from '../engine/match/explain-match.ts'
import { compileMatcher, type Matcher } from '../engine/match/matcher.ts'
import { resolveCatalogueName } from '../hook-files/read/read-hook-file.ts'
import type { MethodParts } from '../methods/method-parts.ts'
import type { HookInput } from '../stored-hooks/saving/hook-input.ts'
import type { HookPreview } from './methods/hook-preview-methods.ts'
import { recordedInput } from './record/recorded-input.ts'
import type { RecordedRequest } from './view-tables.ts'

export const MAX_PREVIEWED = 500
/** Requests are decrypted in small pages, because one may be large. */
const PAGE = 25
/** A preview runs while a person types, so it ends early rather than late. */
const MAX_MS = 2_000

/** Tries the conditions of a hook on recorded events. Throws a coded error with the field that cannot be compiled. */
export async function previewHook(
  hook: HookInput,
  limit: number,
  { tenant, store, clock, shell }: { tenant: string } & Pick<MethodParts, 'store' | 'clock' | 'shell'>,
): Promise<HookPreview> {
  if (!hook.event) throw serverError('gateway.request', 'event is required', { at: 'event' })
  const event = resolveCatalogueName(hook.event) as keyof typeof catalogue
  const matcher = compileConditions(hook, event, tenant)
  const tried: { readonly row: RecordedRequest; readonly preview: HookPreview['rows'][number] }[] = []
  const until = clock.elapsed() + MAX_MS
  let cursor = ''
  do {
    const page = { limit: Math.min(PAGE, limit - tried.length), ...(cursor === '' ? {} : { cursor }) }
    const { rows, nextCursor } = await store.recentRequests(tenant, event, page)
    for (const row of rows) {
      const preview = tryOn(matcher, event, row, shell)
      if (preview !== undefined) tried.push({ row, preview })
    }
    cursor = nextCursor
  } while (cursor !== '' && tried.length < limit && clock.elapsed() < until)
  const matched = tried.filter(({ preview }) => preview.would === 'match').map(({ row }) => row)
  const count = (test: (row: RecordedRequest) => boolean) => matched.filter(test).length
  return {
    checked: tried.length,
    matched: matched.length,
    changes: {
      block: count((row) => row.kind === 'block'),
      ask: count((row) => row.kind === 'ask'),
      rewrite: count((row) => row.rewritten),
    },
    rows: tried.map(({ preview }) => preview),
  }
}

function compileConditions(hook: HookInput, event: string, tenant: string): Matcher {
  const {
    matcher,
    match,
    if_expr,
    scope,
    agent_id,
    agent_ids = agent_id === undefined ? [] : [agent_id],
  } = hook
  const conditions = {
    ...definedFields({ matcher, match, if_expr }),
    // Only hooks with scope `agent` use the list of agents.
    ...(scope === 'agent' ? { agent_ids: agent_ids.map((agent) => agentId(tenant, agent)) } : {}),
  }
  try {
    return compileMatcher(conditions, event)
  } catch (error) {
    // The outer error names a hook that does not exist yet.
    if (error instanceof HookError && error.cause instanceof HookError) throw error.cause
    throw error
  }
}

/** Undefined if the request cannot be read: its key is gone, or it is too large. */
function tryOn(
  matcher: Matcher,
  event: keyof typeof catalogue,
  row: RecordedRequest,
  shell: AnalyzeShell,
): HookPreview['rows'][number] | undefined {
  if (row.request === undefined) return undefined
  const input = recordedInput(event, JSON.parse(row.request), row, shell)
  if (input === undefined) return undefined
  const { event_id, created_at, what, kind } = row
  const report = explainMatch(matcher, input)
  const preview = { event_id, created_at, what, kind }
  if (report.result === 'missed') return { ...preview, would: 'no match', why: report.because }
  if (report.result === 'matched')
    return { ...preview, would: 'match', why: report.found ?? 'every condition holds' }
  // A gate runs a hook whose condition cannot be evaluated; other events skip it.
  const would = catalogue[event].mode === 'gate' ? 'match' : 'no match'
  return { ...preview, would, why: `${report.part} cannot be evaluated: ${report.error.message}` }
}
