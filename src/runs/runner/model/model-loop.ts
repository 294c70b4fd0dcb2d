import type { GenerateTextStepEndEvent, LanguageModel, ModelMessage, ToolSet } from 'ai'
import type { HookError } from '../../../engine/core/errors/error.ts'
import { handlerError } from '../../../engine/core/errors/handler-errors.ts'
import { isRecord } from '../../../engine/core/schema/check.ts'
import { compileSchema, type JsonSchema, type SchemaCheck } from '../../../handlers/agent/schema-check.ts'
import { callSettings, providerFailure } from '../../../handlers/model/ask-model.ts'

const MAX_OUTPUT_TOKENS = 4_096
/** The tool with which a model gives a structured answer. */
export const ANSWER_TOOL = 'answer'

/** A tool that a model may call. */
export interface AgentTool {
  readonly description: string
  readonly input_schema: JsonSchema
  run(input: unknown, signal: AbortSignal): unknown
}

/** The answer that a model must give with the tool `answer`. */
export interface WantedAnswer {
  readonly schema: JsonSchema
  readonly check: SchemaCheck
  /** How many answers that do not fit the schema the model may repair. */
  readonly repairs: number
  /** Called with an answer that fits. Returns why the model must go on, or undefined. */
  beforeEnd?(answer: unknown): Promise<string | undefined>
}

export interface ModelLoop {
  readonly provider: string
  /** With hooks around it, if the agent has any. */
  readonly model: LanguageModel
  readonly instructions: string
  /** The messages of earlier runs, in front of the prompt. */
  readonly earlier?: readonly ModelMessage[]
  readonly prompt: string
  /** Behind the hooks. */
  readonly tools: ToolSet
  /** Without it the answer is the text of the last step. */
  readonly answer?: WantedAnswer
  readonly maxSteps: number
  readonly maxOutputTokens?: number
  /** Called before each step. A rejection ends the loop. */
  beforeStep?(): Promise<void>
  /** Returns shorter messages before a step, or undefined. They replace the messages for all further steps. */
  compact?(messages: readonly ModelMessage[]): Promise<ModelMessage[] | undefined>
  onStep?(step: GenerateTextStepEndEvent): void
  onTokens?(count: number): void
}

export type ModelOutcome = { readonly text: string } | { readonly answer: unknown }

/** Runs the tools that a model calls until it answers. In the last step it can call no other tool. */
export async function runModelLoop(loop: ModelLoop, signal: AbortSignal): Promise<ModelOutcome> {
  const { generateText, isStepCount, jsonSchema, ToolChoiceViolationError } = await import('ai')
  const { provider, model, instructions, maxSteps, maxOutputTokens = MAX_OUTPUT_TOKENS } = loop
  const messages: ModelMessage[] = [...(loop.earlier ?? []), { role: 'user', content: loop.prompt }]
  const wanted = loop.answer === undefined ? undefined : createAnswerTool(loop.answer)
  const answerTool = wanted && {
    [ANSWER_TOOL]: {
      description: 'Gives the answer and ends the work.',
      inputSchema: jsonSchema(wanted.schema),
      execute: wanted.take,
    },
  }
  const tools: ToolSet = { ...loop.tools, ...answerTool }
  const lastChoice = wanted ? ({ type: 'tool', toolName: ANSWER_TOOL } as const) : 'none'
  try {
    const result = await generateText({
      ...callSettings,
      ...{ maxOutputTokens, model, instructions, messages, tools, abortSignal: signal },
      toolChoice: wanted ? 'required' : 'auto',
      stopWhen: [() => wanted?.isSettled() ?? false, isStepCount(maxSteps)],
      async prepareStep({ stepNumber, messages }) {
        await loop.beforeStep?.()
        const shorter = await loop.compact?.(messages)
        return {
          ...(stepNumber === maxSteps - 1 && Object.keys(tools).length > 0 ? { toolChoice: lastChoice } : {}),
          ...(shorter === undefined ? {} : { messages: shorter }),
        }
      },
      onStepEnd: (step) => loop.onStep?.(step),
      onLanguageModelCallEnd: ({ usage }) => loop.onTokens?.(usage.totalTokens ?? 0),
    })
    return wanted === undefined ? { text: result.text } : { answer: wanted.read() }
  } catch (thrown) {
    if (ToolChoiceViolationError.isInstance(thrown)) throw noAnswer()
    throw providerFailure(thrown, { provider, handler: 'agent' })
  }
}

/** Providers take only objects as the input of a tool, so any other answer is wrapped into one. */
function createAnswerTool({ schema, check, repairs, beforeEnd }: WantedAnswer) {
  const isWrapped = schema.type !== undefined && schema.type !== 'object'
  const toolSchema: JsonSchema = isWrapped
    ? { type: 'object', properties: { value: schema }, required: ['value'] }
    : { ...schema, type: 'object' }
  let accepted: { readonly answer: unknown } | undefined
  let problem: string | undefined
  let wrong = 0
  return {
    schema: toolSchema,
    isSettled: () => accepted !== undefined || wrong > repairs,
    async take(input: unknown): Promise<string> {
      const answer = isWrapped && isRecord(input) ? input.value : input
      problem = check(answer)
      if (problem !== undefined) {
        wrong++
        return `This answer does not fit its schema: ${problem}. Call ${ANSWER_TOOL} again.`
      }
      const goOn = await beforeEnd?.(answer)
      if (goOn !== undefined) return goOn
      accepted = { answer }
      return 'accepted'
    },
    read(): unknown {
      if (accepted !== undefined) return accepted.answer
      if (problem === undefined) throw noAnswer()
      throw handlerError('agent.output_schema', `the answer of the agent does not fit its schema: ${problem}`)
    },
  }
}

function noAnswer(): HookError {
  return handlerError('agent.output_schema', 'the agent ended without an answer that can be read')
}

/** Tools for the AI SDK. The model sees what is wrong with its arguments and may try again. */
export async function createToolSet(
  tools: Readonly<Record<string, AgentTool>>,
  signal: AbortSignal,
): Promise<ToolSet> {
  const { jsonSchema } = await import('ai')
  return Object.fromEntries(
    Object.entries(tools).map(([name, { description, input_schema, run }]) => {
      const inputSchema = jsonSchema(input_schema, { validate: createValidator(input_schema) })
      return [name, { description, inputSchema, execute: (input: unknown) => run(input, signal) }] as const
    }),
  )
}

function createValidator(schema: JsonSchema) {
  const check = compileSchema(schema, 'input_schema')
  return (value: unknown) => {
    const problem = check(value)
    if (problem === undefined) return { success: true as const, value }
    return { success: false as const, error: handlerError('agent.schema', problem) }
  }
}
