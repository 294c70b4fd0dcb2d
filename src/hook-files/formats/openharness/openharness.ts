import type { Policy } from '../../../engine/core/event.ts'
import { looseObject, nonEmpty, nullable, tagged } from '../../../engine/core/schema/more-schemas.ts'
import { type SchemaType, schema } from '../../../engine/core/schema/schema.ts'
import { type ImportedHook, type ImportFormat, present } from '../import-format.ts'
import { FieldReader } from '../import-ledger.ts'
import { globCondition } from './glob-condition.ts'

const MAX_TIMEOUT_MS = 600_000
const text = nonEmpty()
const seconds = (high: number) => schema.optional(schema.integer(1, high))
const common = schema.partial({ matcher: nullable(schema.text()), block_on_failure: schema.boolean() })
const question = { prompt: text, model: schema.optional(nullable(text)) }

const hook = tagged('type', [
  schema.object({
    type: schema.choice(['command']),
    command: text,
    timeout_seconds: seconds(600),
    ...common,
  }),
  schema.object({ type: schema.choice(['prompt']), ...question, timeout_seconds: seconds(600), ...common }),
  schema.object({
    type: schema.choice(['http']),
    url: text,
    headers: schema.optional(schema.map(schema.text())),
    timeout_seconds: seconds(600),
    ...common,
  }),
  schema.object({ type: schema.choice(['agent']), ...question, timeout_seconds: seconds(1_200), ...common }),
])
type Hook = SchemaType<typeof hook>

const fileSchema = looseObject({ hooks: schema.map(schema.list(hook)) })

/** OpenHarness as it runs: settings with a list of hooks per event. Its plugins' flat `hooks.json` has the same form. */
export const openHarness: ImportFormat<SchemaType<typeof fileSchema>> = {
  schema: fileSchema,
  translate: ({ hooks }, ledger) =>
    Object.entries(hooks).flatMap(([event, list]) =>
      list.map((each, index) => translateHook(event, new FieldReader(each, ['hooks', event, index], ledger))),
    ),
}

function translateHook(event: string, { fields: hook, path: from, ledger }: FieldReader<Hook>): ImportedHook {
  // The schema refuses unknown fields, so every field is used.
  ledger.use(from)
  const isModel = hook.type === 'prompt' || hook.type === 'agent'
  const mayBlock = hook.block_on_failure ?? isModel
  const wanted = (hook.timeout_seconds ?? (hook.type === 'agent' ? 60 : 30)) * 1_000
  const condition = globCondition(event, hook.matcher ?? '')
  for (const note of condition.notes) ledger.note([...from, 'matcher'], note)
  if (wanted > MAX_TIMEOUT_MS)
    ledger.note([...from, 'timeout_seconds'], `a hook may run for ${MAX_TIMEOUT_MS / 1_000} s, not longer`)
  return {
    from,
    hook: {
      event,
      handler_type: hook.type,
      ...answerMode(hook.type),
      ...condition.fields,
      timeout_ms: Math.min(wanted, MAX_TIMEOUT_MS),
      ...policies(mayBlock),
      config: { format: 'openharness', ...configOf(hook), block_on_failure: mayBlock },
    },
  }
}

function configOf(hook: Hook): object {
  if (hook.type === 'command') return { command: hook.command }
  if (hook.type === 'http') return present({ url: hook.url, headers: hook.headers })
  return present({ prompt: hook.prompt, model: hook.model ?? undefined })
}

/** What every kind of failure means for a hook that may block, or may not. */
export function policies(mayBlock: boolean) {
  const policy: Policy = mayBlock ? 'block' : 'allow'
  return { on_error: policy, on_timeout: policy, on_invalid: policy }
}

/** OpenHarness looks at the exit code of a command only, and takes the body of a webhook for a reason. */
export function answerMode(type: string): { answer?: 'ignore' | 'lenient' } {
  if (type === 'command') return { answer: 'ignore' }
  return type === 'http' ? { answer: 'lenient' } : {}
}
