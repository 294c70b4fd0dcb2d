import { z } from 'zod'
import { serverError } from '../../engine/core/server-errors.ts'
import { eventFilterFields, toEventFilter } from './event-list.ts'
import { defineCall } from './method.ts'
import { readonlyList } from './method-fields.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const MAX_BUCKETS = 2_000

const time = z.int().min(0).max(8_640_000_000_000_000).describe('Milliseconds since 1970.')
const latency = z.number().nullable().describe('Estimated from a histogram; null without events.')

const decisions = defineCall({
  name: 'stats.decisions',
  about: 'Decisions per span of time, by outcome, and how long hooks took.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/stats/decisions' },
  params: z.strictObject({
    since: time.describe('Milliseconds since 1970; an hour before `until` if omitted.').exactOptional(),
    until: time.describe('Milliseconds since 1970; now if omitted.').exactOptional(),
    step: z
      .int()
      .min(MINUTE)
      .max(366 * DAY)
      .describe('Milliseconds; a minute if omitted.')
      .exactOptional(),
  }),
  result: z.object({
    buckets: readonlyList(
      z.object({
        at: z.number().describe('The beginning of the span, a multiple of the step.'),
        allow: z.number().describe('Allowed without a change.'),
        rewrite: z.number().describe('Allowed with changed input.'),
        ask: z.number(),
        block: z.number(),
        opened: z.number().describe('Of all: passed because of a policy although a hook failed.'),
        failed: z.number().describe('Of all: events with a failed hook.'),
        p50_ms: latency,
        p95_ms: latency,
      }),
    ),
  }),
  needs: ['store', 'clock'],
  async run({ params, caller, parts }) {
    const { until = parts.clock.now(), step = MINUTE } = params
    const { since = Math.max(0, until - HOUR) } = params
    if (since > until) throw serverError('gateway.request', 'since is after until', { at: 'since' })
    if ((until - since) / step > MAX_BUCKETS)
      throw serverError('gateway.request', `the span has more than ${MAX_BUCKETS} steps`, {
        at: 'step',
        hint: 'Send a longer step or a shorter span.',
      })
    return { buckets: await parts.store.countDecisions(caller.tenant, { since, until, step }) }
  },
})

const hooks = defineCall({
  name: 'stats.hooks',
  about: 'What each hook did, counted in whole hours.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/stats/hooks' },
  params: z.strictObject({
    since: time.describe('Milliseconds since 1970; a day ago if omitted.').exactOptional(),
  }),
  result: z.object({
    hooks: readonlyList(
      z.object({
        hook_id: z.string(),
        hook_name: z.string().nullable(),
        matched: z.number().describe('Events to which the hook applied.'),
        block: z.number(),
        ask: z.number(),
        rewrite: z.number(),
        failed: z.number(),
        p95_ms: latency,
        last_at: z.number(),
      }),
    ),
  }),
  needs: ['store', 'clock'],
  async run({ params, caller, parts }) {
    const { since = Math.max(0, parts.clock.now() - DAY) } = params
    return { hooks: await parts.store.countHooks(caller.tenant, since) }
  },
})

const counts = readonlyList(
  z.object({
    value: z.string().nullable().describe('null counts the events without a value.'),
    name: z.string().nullable(),
    count: z.number(),
  }),
)

const facets = defineCall({
  name: 'stats.facets',
  about: 'How many events have each value; a facet ignores its own filter.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/stats/facets' },
  params: z.strictObject(eventFilterFields),
  result: z.object({
    event: counts,
    agent: counts,
    tool: counts,
    kind: counts,
    hook: counts,
    total: z.number(),
    complete: z.boolean().describe('false if only the newest events of the span were counted.'),
  }),
  needs: ['store'],
  run: ({ params, caller, parts }) => parts.store.countFacets(caller.tenant, toEventFilter(params, caller)),
})

export const statMethods = [decisions, hooks, facets] as const
