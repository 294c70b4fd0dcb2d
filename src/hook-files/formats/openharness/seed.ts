import { nonEmpty, textLike } from '../../../engine/core/schema/more-schemas.ts'
import { type SchemaType, schema } from '../../../engine/core/schema/schema.ts'
import { canonicalEvent, type ImportedHook, type ImportFormat, present } from '../import-format.ts'
import { FieldReader } from '../import-ledger.ts'
import { answerMode, policies } from './openharness.ts'

const DEFAULT_TIMEOUT_MS = 30_000
const AGENT_TIMEOUT_MS = 60_000
const text = nonEmpty()

const hook = schema.object({
  events: schema.list(text, undefined, { minItems: 1 }),
  ...schema.partial({
    type: textLike(/^(command|prompt|http|agent)$/i, 'be one of command, prompt, http, agent'),
    command: text,
    prompt: text,
    model: text,
    url: text,
    headers: schema.map(schema.text()),
    can_block: schema.boolean(),
  }),
})
type Hook = SchemaType<typeof hook>

const fileSchema = schema.object({ hooks: schema.list(hook) })

/** OpenHarness as its description shows it: every hook names its events, and only `pre_tool_use` can block. */
export const openHarnessSeed: ImportFormat<SchemaType<typeof fileSchema>> = {
  schema: fileSchema,
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
  const type = hook.type?.toLowerCase() ?? 'command'
  const name = canonicalEvent(event)
  const mayBlock = (hook.can_block ?? false) && name === 'pre_tool_use'
  return {
    from,
    hook: {
      event: name,
      handler_type: type,
      ...answerMode(type),
      timeout_ms: type === 'agent' ? AGENT_TIMEOUT_MS : DEFAULT_TIMEOUT_MS,
      ...policies(mayBlock),
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
