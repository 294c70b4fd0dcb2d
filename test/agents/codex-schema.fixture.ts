import { z } from 'zod'

/** What Codex 0.166 takes from a hook, event by event. One field more and it takes nothing. */
const solid = z.string().refine((text) => /[^\s\u0085]/.test(text))
const universal = { systemMessage: z.string().optional() }
const stopping = { ...universal, continue: z.boolean().optional(), stopReason: z.string().optional() }
const blocking = { decision: z.literal('block').optional(), reason: solid.optional() }

const words = (event: string) =>
  z.strictObject({ hookEventName: z.literal(event), additionalContext: z.string().optional() }).optional()

const blocksTogether = (output: { decision?: unknown; reason?: unknown }) =>
  (output.decision === undefined) === (output.reason === undefined)

const preToolUse = z.union([
  z.strictObject({ hookEventName: z.literal('PreToolUse'), additionalContext: z.string().optional() }),
  z.strictObject({
    hookEventName: z.literal('PreToolUse'),
    permissionDecision: z.literal('allow'),
    permissionDecisionReason: z.string().optional(),
    updatedInput: z.unknown().refine((input) => input !== undefined && input !== null),
    additionalContext: z.string().optional(),
  }),
  z.strictObject({
    hookEventName: z.literal('PreToolUse'),
    permissionDecision: z.literal('deny'),
    permissionDecisionReason: solid,
    additionalContext: z.string().optional(),
  }),
])

const decision = z.union([
  z.strictObject({ behavior: z.literal('allow') }),
  z.strictObject({ behavior: z.literal('deny'), message: z.string().optional() }),
])

const accepted: Readonly<Record<string, z.ZodType>> = {
  PreToolUse: z
    .strictObject({ ...universal, ...blocking, hookSpecificOutput: preToolUse.optional() })
    .refine(blocksTogether),
  PermissionRequest: z.strictObject({
    ...universal,
    hookSpecificOutput: z
      .strictObject({ hookEventName: z.literal('PermissionRequest'), decision: decision.optional() })
      .optional(),
  }),
  PostToolUse: z
    .strictObject({ ...stopping, ...blocking, hookSpecificOutput: words('PostToolUse') })
    .refine(blocksTogether),
  UserPromptSubmit: z
    .strictObject({ ...stopping, ...blocking, hookSpecificOutput: words('UserPromptSubmit') })
    .refine(blocksTogether),
  SessionStart: z.strictObject({ ...stopping, hookSpecificOutput: words('SessionStart') }),
  SubagentStart: z.strictObject({ ...universal, hookSpecificOutput: words('SubagentStart') }),
  Stop: z.strictObject({ ...stopping, ...blocking }).refine(blocksTogether),
  SubagentStop: z.strictObject({ ...stopping, ...blocking }).refine(blocksTogether),
  PreCompact: z.strictObject(stopping),
  PostCompact: z.strictObject(stopping),
  SessionEnd: z.strictObject(universal),
}

/** Whether Codex would act on it; saying nothing is always fine. */
export function isAccepted(event: string, stdout: string): boolean {
  return stdout === '' || accepted[event]?.safeParse(JSON.parse(stdout)).success === true
}
