import { z } from 'zod'
import { canonicalEvent, type ImportedHook, type ImportFormat, present } from '../import-format.ts'
import { FieldReader } from '../import-ledger.ts'
import { answerMode } from './openharness.ts'

const DEFAULT_TIMEOUT_MS = 30_000
const AGENT_TIMEOUT_MS = 60_000
const text = z.string().min(1, 'must not be empty')

const hook = z.strictObject({
  events: z.array(text).min(1, 'must not be empty'),
  type: z
    .string()
    .transform((type) => type.toLowerCase())
    .pipe(z.enum(['command', 'prompt', 'http', 'agent']))
    .exactOptional(),
  command: text.exactOptional(),
  prompt: text.exactOptional(),
  model: text.exactOptional(),
  url: text.exactOptional(),
  headers: z.record(z.string(), z.string()).exactOptional(),
  can_block: z.boolean().exactOptional(),
})
type Hook = z.output<typeof hook>

const schema = z.strictObject({ hooks: z.array(hook) })

/** OpenHarness as its description shows it: every hook names its events, and only `pre_tool_use` can block. */
export const openHarnessSeed: ImportFormat<z.output<typeof schema>> = {
  schema,
  translate: ({ hooks }, ledger) =>
    hooks.flatMap((each, index) => {
      const from = ['hooks', index]
      // The schema refuses unknown fields, so every field is used.
      ledger.use(from)
      noteLosses(new FieldReader(each, from, ledger))
      return each.events.map((event) => translated(each, event, from))
    }),
}

function translated(hook: Hook, event: string, from: ImportedHook['from']): ImportedHook {
  const type = hook.type ?? 'command'
  const name = canonicalEvent(event)
  const mayBlock = (hook.can_block ?? false) && name === 'pre_tool_use'
  const policy = mayBlock ? 'block' : 'allow'
  return {
    from,
    hook: {
      event: name,
      handler_type: type,
      ...answerMode(type),
      timeout_ms: type === 'agent' ? AGENT_TIMEOUT_MS : DEFAULT_TIMEOUT_MS,
      on_error: policy,
      on_timeout: policy,
      on_invalid: policy,
      config: { ...configOf(hook, type), can_block: mayBlock },
    },
  }
}

function configOf({ command, prompt, model, url, headers }: Hook, type: string): object {
  if (type === 'command') return present({ format: 'openharness-seed', command })
  if (type === 'http') return present({ format: 'openharness', url, headers })
  return present({ format: 'openharness', prompt, model })
}

function noteLosses(reader: FieldReader<Hook>): void {
  const { can_block: mayBlock, events } = reader.fields
  if (!mayBlock) return
  for (const event of events.filter((each) => canonicalEvent(each) !== 'pre_tool_use'))
    reader.note('can_block', `can_block has no effect on ${event}; only PRE_TOOL_USE can block`)
}
