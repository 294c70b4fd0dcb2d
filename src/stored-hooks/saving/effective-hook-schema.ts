import { hookScopes } from '../../engine/core/hook.ts'
import { nullable, numeric } from '../../engine/core/schema/more-schemas.ts'
import { type SchemaType, schema } from '../../engine/core/schema/schema.ts'

/**
 * decides: it runs and its answer counts · observes: it runs and cannot change the event · shadow: it runs and its
 * answer is only recorded · failing: it cannot be loaded, or its breaker tripped, so its policy answers · off: switched
 * off · other_agent: it is limited to other agents · untrusted: its file waits for trust
 */
const states = ['decides', 'observes', 'shadow', 'failing', 'off', 'other_agent', 'untrusted'] as const

const source = schema.object({
  kind: schema.choice(['managed', 'user', 'repository', 'database', 'builtin']),
  file: schema.optional(schema.text()),
  line: schema.optional(numeric('The line of the hook in the file on disk.')),
  scope: schema.optional(schema.choice(hookScopes)),
  folder: schema.optional(schema.text('Where the hook of a repository counts: in this folder and below.')),
})

/** One hook of the chain of an event. */
export const effectiveHook = schema.object({
  event: schema.text(),
  mode: schema.text('How the hooks of the event combine: gate, transform, claim or observe.'),
  position: nullable(numeric('Its place in the chain, from 1; null if it does not run.')),
  id: schema.text(),
  name: nullable(
    schema.text('What people call it: if it has no name, its id or its event and what it runs.'),
  ),
  source,
  handler_type: schema.text(),
  applies_to: schema.text('Its conditions in words.'),
  matcher: nullable(schema.text()),
  if_expr: nullable(schema.text()),
  match: schema.optional(schema.any()),
  agents: schema.list(schema.text(), 'Names or ids of the only agents that it applies to.'),
  priority: numeric(),
  enabled: schema.boolean(),
  disabled_reason: nullable(schema.text('Why it is off; `breaker` if it kept failing.')),
  shadow: schema.boolean(),
  locked: schema.boolean(),
  state: schema.choice(states),
  printed: schema.optional(
    schema.text('What becomes of printed text that is no answer, if it does not make the answer invalid.'),
  ),
  why: schema.text('What keeps it from running or from deciding; empty if nothing does.'),
  definition: schema.optional(schema.any('The whole hook with masked secrets, if the request named it.')),
})
export type EffectiveHook = SchemaType<typeof effectiveHook>

/** One folder that may hold a hook file. */
export const effectiveFile = schema.object({
  level: schema.choice(['managed', 'user', 'repository']),
  folder: schema.text(),
  file: nullable(schema.text()),
  state: schema.choice(['none', 'in_force', 'changed', 'gone', 'pending', 'broken']),
  hooks: numeric('How many of its hooks are in force.'),
  problem: schema.text('What is wrong and what to do; empty if the hooks are in force as they are written.'),
})
export type EffectiveFile = SchemaType<typeof effectiveFile>
