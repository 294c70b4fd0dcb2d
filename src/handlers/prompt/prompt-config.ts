import { createHash } from 'node:crypto'
import { isRecord } from '../../engine/core/check.ts'
import { HookError } from '../../engine/core/error.ts'
import type { HookDefinition } from '../../engine/core/hook.ts'
import { stableJson } from '../../engine/core/stable-json.ts'

const MAX_TEMPLATE = 32_768
const MAX_PER_TURN = 1_000
const PER_TURN = 5

interface Common {
  readonly model: string | undefined
  /** Changes with every change of the definition, so that no decision outlives the hook that made it. */
  readonly version: string
}

/** `judge` must call `decide`; `openharness` answers `{"ok": …}` as text. */
export type PromptConfig =
  | (Common & { readonly format: 'judge'; readonly template: string; readonly perTurn: number })
  | (Common & OpenHarnessConfig)

export interface OpenHarnessConfig {
  readonly format: 'openharness'
  readonly prompt: string
  readonly model: string | undefined
  /** Whether a failed check blocks; a hook of this format may also only look. */
  readonly canBlock: boolean
}

export function readPromptConfig(config: unknown, hook: HookDefinition): PromptConfig {
  const fields = isRecord(config) ? config : {}
  const version = createHash('sha256').update(stableJson(hook)).digest('hex')
  if (fields.format === 'openharness') return { ...readOpenHarness(fields), version }
  if (fields.format !== undefined && fields.format !== 'decide')
    throw wrong('format', '"decide" or "openharness"')
  if (!isNarrowed(hook)) {
    throw new HookError(
      'config.prompt_needs_matcher',
      'hook: prompt handler requires a matcher or if_expr (runaway-cost guard)',
      { at: 'matcher' },
    )
  }
  const template = readText(fields, 'prompt_template')
  return { format: 'judge', template, model: readModel(fields), perTurn: readPerTurn(fields), version }
}

/** The form that prompt and agent hooks share; it asks about every event unless it is narrowed. */
export function readOpenHarness(fields: Readonly<Record<string, unknown>>): OpenHarnessConfig {
  const { block_on_failure: onFailure, can_block: may } = fields
  for (const [name, value] of Object.entries({ block_on_failure: onFailure, can_block: may })) {
    if (value !== undefined && typeof value !== 'boolean') throw wrong(name, 'true or false')
  }
  return {
    format: 'openharness',
    prompt: readText(fields, fields.prompt === undefined ? 'prompt_template' : 'prompt'),
    model: readModel(fields),
    canBlock: onFailure !== false && may !== false,
  }
}

function isNarrowed({ matcher, if_expr, match }: HookDefinition): boolean {
  if ([matcher, if_expr].some((text) => text !== undefined && text.trim() !== '')) return true
  return match !== undefined && Object.keys(match).length > 0
}

function readText(fields: Readonly<Record<string, unknown>>, name: string): string {
  const text = fields[name]
  if (typeof text !== 'string' || text.trim() === '') throw wrong(name, 'the instruction for the model')
  if (text.length <= MAX_TEMPLATE) return text
  throw new HookError('config.range', `config.${name} must have at most ${MAX_TEMPLATE} characters`, {
    at: `config.${name}`,
  })
}

function readModel({ model }: Readonly<Record<string, unknown>>): string | undefined {
  if (model === undefined || model === null || model === '') return undefined
  if (typeof model !== 'string') throw wrong('model', 'the name of a model')
  return model
}

function readPerTurn({ max_invocations_per_turn: limit }: Readonly<Record<string, unknown>>): number {
  if (limit === undefined || limit === null || limit === 0) return PER_TURN
  if (typeof limit !== 'number') throw wrong('max_invocations_per_turn', 'a number')
  if (Number.isInteger(limit) && limit > 0 && limit <= MAX_PER_TURN) return limit
  const at = 'config.max_invocations_per_turn'
  throw new HookError('config.range', `${at} must be a whole number from 1 to ${MAX_PER_TURN}`, { at })
}

function wrong(name: string, expected: string): HookError {
  return new HookError('config.field', `config.${name} must be ${expected}`, { at: `config.${name}` })
}
