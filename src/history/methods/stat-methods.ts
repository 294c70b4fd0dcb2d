import { serverError } from '../../engine/core/errors/server-errors.ts'
import { nullable, numeric, withAbout } from '../../engine/core/schema/more-schemas.ts'
import { type SchemaType, schema } from '../../engine/core/schema/schema.ts'
import { defineCall } from '../../methods/method.ts'
import { eventFilterFields, toEventFilter } from './event-list-methods.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const MAX_BUCKETS = 2_000

const time = schema.integer(0, 8_640_000_000_000_000, 'Milliseconds since 1970.')
const latency = nullable(numeric('Estimated from a histogram; null without events.'))

const bucket = schema.object({
  at: numeric('The beginning of the span, a multiple of the step.'),
  allow: numeric('Allowed without a change.'),
  rewrite: numeric('Allowed with changed input.'),
  ask: numeric(),
  block: numeric(),
  opened: numeric('Of all: passed because of a policy although a hook failed.'),
  failed: numeric('Of all: events with a failed hook.'),
  p50_ms: latency,
  p95_ms: latency,
})
export type DecisionBucket = SchemaType<typeof bucket>

const decisions = defineCall({
  name: 'stats.decisions',
  about: 'Decisions per span of time, by outcome, and how long hooks took.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/stats/decisions' },
  params: schema.object(
    schema.partial({
      since: withAbout(time, 'Milliseconds since 1970; an hour before `until` if omitted.'),
      until: withAbout(time, 'Milliseconds since 1970; now if omitted.'),
      step: schema.integer(MINUTE, 366 * DAY, 'Milliseconds; a minute if omitted.'),
    }),
  ),
  result: schema.object({ buckets: schema.list(bucket) }),
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

const hookCounts = schema.object({
  hook_id: schema.text(),
  hook_name: nullable(schema.text()),
  matched: numeric('Events to which the hook applied.'),
  block: numeric(),
  ask: numeric(),
  rewrite: numeric(),
  failed: numeric(),
  p95_ms: latency,
  last_at: numeric(),
})
export type HookCounts = SchemaType<typeof hookCounts>

const hooks = defineCall({
  name: 'stats.hooks',
  about: 'What each hook did, counted in whole hours.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/stats/hooks' },
  params: schema.object({
    since: schema.optional(withAbout(time, 'Milliseconds since 1970; a day ago if omitted.')),
  }),
  result: schema.object({ hooks: schema.list(hookCounts) }),
  needs: ['store', 'clock'],
  async run({ params, caller, parts }) {
    const { since = Math.max(0, parts.clock.now() - DAY) } = params
    return { hooks: await parts.store.countHooks(caller.tenant, since) }
  },
})

const counts = schema.list(
  schema.object({
    value: nullable(schema.text('null counts the events without a value.')),
    name: nullable(schema.text()),
    count: numeric(),
  }),
)

const facetsSchema = schema.object({
  event: counts,
  agent: counts,
  tool: counts,
  kind: counts,
  hook: counts,
  total: numeric(),
  complete: schema.boolean('false if only the newest events of the span were counted.'),
})
export type Facets = SchemaType<typeof facetsSchema>

const facets = defineCall({
  name: 'stats.facets',
  about: 'How many events have each value; a facet ignores its own filter.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/stats/facets' },
  params: schema.object(eventFilterFields),
  result: facetsSchema,
  needs: ['store'],
  run: ({ params, caller, parts }) => parts.store.countFacets(caller.tenant, toEventFilter(params, caller)),
})

export const statMethods = [decisions, hooks, facets] as const
