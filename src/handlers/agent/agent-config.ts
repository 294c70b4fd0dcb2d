import { isRecord } from '../../engine/core/check.ts'
import { HookError } from '../../engine/core/error.ts'
import { type OpenHarnessConfig, readOpenHarness } from '../prompt/prompt-config.ts'
import { compileSchema, type JsonSchema, type SchemaCheck } from './json-schema.ts'

interface StartConfig {
  readonly format: 'start'
  readonly agentName: string | undefined
  readonly prompt: string | undefined
  readonly model: string | undefined
  readonly outputSchema: JsonSchema | undefined
  readonly checkInput: SchemaCheck
  readonly checkOutput: SchemaCheck
}

/** `start` asks the host for an agent; `openharness` is one question to a model. */
export type AgentConfig = StartConfig | OpenHarnessConfig

export type { StartConfig }

export function readAgentConfig(config: unknown): AgentConfig {
  const fields = isRecord(config) ? config : {}
  if (fields.format === 'openharness') return readOpenHarness(fields)
  if (fields.format !== undefined) throw wrong('format', '"openharness" or absent')
  const [agentName, prompt, model] = ['agent_name', 'prompt', 'model'].map((name) => text(fields, name))
  if (agentName === undefined && prompt === undefined)
    throw wrong('agent_name', 'the name of an agent, unless there is a prompt')
  const { input_schema: input, output_schema: output } = fields
  return {
    format: 'start',
    agentName,
    prompt,
    model,
    outputSchema: isRecord(output) ? output : undefined,
    checkInput: check(input, 'config.input_schema'),
    checkOutput: check(output, 'config.output_schema'),
  }
}

function check(schema: unknown, at: string): SchemaCheck {
  return schema === undefined || schema === null ? () => undefined : compileSchema(schema, at)
}

function text(fields: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = fields[name]
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string') throw wrong(name, 'text')
  return value
}

function wrong(name: string, expected: string): HookError {
  return new HookError('config.field', `config.${name} must be ${expected}`, { at: `config.${name}` })
}
