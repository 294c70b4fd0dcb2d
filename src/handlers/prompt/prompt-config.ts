import { hash } from 'node:crypto'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import type { BaseHook } from '../../engine/core/hook.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { withAbout } from '../../engine/core/schema/more-schemas.ts'
import { type SchemaType, schema } from '../../engine/core/schema/schema.ts'
import { stableJson } from '../../engine/core/values/stable-json.ts'
import { configError } from '../handler-type.ts'

const MAX_PROMPT = 32_768
const MAX_PER_TURN = 1_000
const PER_TURN = 5

/** The fields that prompt and agent hooks share. */
export const promptFields = {
  prompt: schema.text(
    'The question to the model, with the placeholders `$ARGUMENTS`, `{tool_name}`, `{args}`, `{result}` and `{file}`.',
    { maxLength: MAX_PROMPT },
  ),
  prompt_template: schema.text('The instruction to the evaluator: what to block.', { maxLength: MAX_PROMPT }),
  model: schema.text('A model, such as `haiku` or `openai/gpt-5-mini`. Without it, the default model.'),
  block_on_failure: schema.boolean('`openharness` only: `false` records a failed check and never blocks.'),
  can_block: schema.boolean('Another spelling of `block_on_failure`.'),
}

export const promptSchema = schema.object(
  schema.partial({
    prompt_template: promptFields.prompt_template,
    model: promptFields.model,
    max_invocations_per_turn: schema.integer(
      0,
      MAX_PER_TURN,
      `How often prompt hooks may ask a model in one turn. 0 means the default, ${PER_TURN}.`,
    ),
    format: schema.choice(
      ['decide', 'openharness'],
      'How the model answers: `decide` (default) by calling a tool, `openharness` with `{"ok": …}` as text.',
    ),
    prompt: withAbout(promptFields.prompt, `\`openharness\` only. ${promptFields.prompt.about}`),
    block_on_failure: promptFields.block_on_failure,
    can_block: promptFields.can_block,
  }),
)
type PromptSettings = SchemaType<typeof promptSchema>

/**
 * `decide`: the model must call the tool `decide`. `openharness`: it answers `{"ok": …}` as text. `version` is a hash of the definition,
 * so that no cached decision outlives a change of the hook.
 */
export type PromptConfig = { readonly model: string | undefined; readonly version: string } & (
  | { readonly format: 'decide'; readonly template: string; readonly perTurn: number }
  | OpenHarnessConfig
)

export interface OpenHarnessConfig {
  readonly format: 'openharness'
  readonly prompt: string
  readonly model: string | undefined
  /** Whether a failed check blocks; otherwise it is only recorded. */
  readonly canBlock: boolean
}

export function readPromptConfig(settings: PromptSettings, hook: BaseHook): PromptConfig {
  const version = hash('sha256', stableJson(hook))
  if (settings.format === 'openharness') return { ...readOpenHarness(settings), version }
  const message = 'hook: prompt handler requires a matcher or if_expr (runaway-cost guard)'
  if (!isNarrowed(hook)) throw handlerError('config.prompt_needs_matcher', message, { at: 'matcher' })
  return {
    format: 'decide',
    template: requirePrompt(settings, 'prompt_template'),
    model: settings.model || undefined,
    perTurn: settings.max_invocations_per_turn || PER_TURN,
    version,
  }
}

type OpenHarnessSettings = Pick<
  PromptSettings,
  'prompt' | 'prompt_template' | 'model' | 'can_block' | 'block_on_failure'
>

/** The format that prompt and agent hooks share. It needs no matcher. */
export function readOpenHarness(settings: OpenHarnessSettings): OpenHarnessConfig {
  return {
    format: 'openharness',
    prompt: requirePrompt(settings, settings.prompt === undefined ? 'prompt_template' : 'prompt'),
    model: settings.model || undefined,
    canBlock: settings.block_on_failure !== false && settings.can_block !== false,
  }
}

/** Other fields of the hook may still be unchecked, so nothing here depends on their types. */
function isNarrowed({ matcher, if_expr, match }: BaseHook): boolean {
  return [matcher, if_expr, ...Object.values(match ?? {})].some((condition: unknown) =>
    isRecord(condition) || Array.isArray(condition)
      ? Object.keys(condition).length > 0
      : String(condition ?? '').trim() !== '',
  )
}

function requirePrompt(settings: OpenHarnessSettings, name: 'prompt' | 'prompt_template'): string {
  const text = settings[name] ?? ''
  if (text.trim() !== '') return text
  throw configError(name, `config.${name} is required: the instruction for the model`)
}
