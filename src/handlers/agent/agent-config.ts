import { isRecord } from '../../engine/core/schema/check.ts'
import { withAbout } from '../../engine/core/schema/more-schemas.ts'
import { type SchemaType, schema } from '../../engine/core/schema/schema.ts'
import { configError } from '../handler-type.ts'
import { type OpenHarnessConfig, promptFields, readOpenHarness } from '../prompt/prompt-config.ts'
import { compileSchema, type SchemaCheck } from './schema-check.ts'

export const agentSchema = schema.object(
  schema.partial({
    agent_name: schema.text('The agent that the host starts. Either `agent_name` or `prompt` is required.'),
    prompt: withAbout(
      promptFields.prompt,
      'What the agent should do. With `format: openharness` the question to the model, which may contain placeholders.',
    ),
    model: promptFields.model,
    input_schema: schema.any('A JSON Schema. The hook blocks an event that does not fit it.'),
    output_schema: schema.any('A JSON Schema for the answer of the agent.'),
    format: schema.choice(
      ['openharness'],
      'Ask a model one question instead of starting an agent, as OpenHarness does.',
    ),
    prompt_template: withAbout(
      promptFields.prompt_template,
      '`openharness` only: used if there is no `prompt`.',
    ),
    block_on_failure: promptFields.block_on_failure,
    can_block: promptFields.can_block,
  }),
)
type AgentSettings = SchemaType<typeof agentSchema>

export type StartAgentConfig = ReturnType<typeof readStart>

/** `start` asks the host to start an agent; `openharness` asks a model one question. */
export type AgentConfig = StartAgentConfig | OpenHarnessConfig

export function readAgentConfig(settings: AgentSettings): AgentConfig {
  return settings.format === 'openharness' ? readOpenHarness(settings) : readStart(settings)
}

function readStart(settings: AgentSettings) {
  const { agent_name: name, prompt, model, input_schema: input, output_schema: output } = settings
  if (!name && !prompt)
    throw configError('agent_name', 'config.agent_name is required unless there is a prompt')
  return {
    format: 'start' as const,
    agentName: name || undefined,
    prompt: prompt || undefined,
    model: model || undefined,
    outputSchema: isRecord(output) ? output : undefined,
    checkInput: compileOptional(input, 'config.input_schema'),
    checkOutput: compileOptional(output, 'config.output_schema'),
  }
}

function compileOptional(jsonSchema: unknown, at: string): SchemaCheck {
  return jsonSchema === undefined || jsonSchema === null ? () => undefined : compileSchema(jsonSchema, at)
}
