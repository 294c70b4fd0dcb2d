import { z } from 'zod'

/**
 * decides: it runs and its answer counts · observes: it runs and cannot change the event · shadow: it runs and its
 * answer is only recorded · failing: it cannot be loaded, or its breaker tripped, so its policy answers · off: switched
 * off · other_agent: it is limited to other agents · untrusted: its file waits for trust
 */
const states = ['decides', 'observes', 'shadow', 'failing', 'off', 'other_agent', 'untrusted'] as const

const source = z.object({
  kind: z.enum(['managed', 'user', 'repository', 'database', 'builtin']),
  file: z.string().exactOptional(),
  line: z.number().describe('The line of the hook in the file on disk.').exactOptional(),
  scope: z.enum(['global', 'tenant', 'agent']).exactOptional(),
})

/** One hook of the chain of an event. */
export const effectiveHook = z.object({
  event: z.string(),
  mode: z.string().describe('How the hooks of the event combine: gate, transform, claim or observe.'),
  position: z.number().nullable().describe('Its place in the chain, from 1; null if it does not run.'),
  id: z.string(),
  name: z.string().nullable(),
  source,
  handler_type: z.string(),
  matcher: z.string().nullable(),
  if_expr: z.string().nullable(),
  match: z.unknown().exactOptional(),
  agents: z.array(z.string()).describe('Names or ids of the only agents that it applies to.'),
  priority: z.number(),
  enabled: z.boolean(),
  shadow: z.boolean(),
  locked: z.boolean(),
  state: z.enum(states),
  why: z.string().describe('What keeps it from running or from deciding; empty if nothing does.'),
})
export type EffectiveHook = z.output<typeof effectiveHook>

/** One folder that may hold a hook file. */
export const effectiveFile = z.object({
  level: z.enum(['managed', 'user', 'repository']),
  folder: z.string(),
  file: z.string().nullable(),
  state: z.enum(['none', 'in_force', 'changed', 'gone', 'pending', 'broken']),
  hooks: z.number().describe('How many of its hooks are in force.'),
  problem: z
    .string()
    .describe('What is wrong and what to do; empty if the hooks are in force as they are written.'),
})
export type EffectiveFile = z.output<typeof effectiveFile>
