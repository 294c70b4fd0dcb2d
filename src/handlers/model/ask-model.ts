import { errorText, HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { redact } from '../../safe/secrets/redact.ts'
import type { ServedModel } from './models.ts'

const MAX_OUTPUT_TOKENS = 512
/** About as many characters make a token, where the server does not count. */
const CHARACTERS_PER_TOKEN = 4

/** The one tool the model must call. */
export interface AskTool {
  readonly name: string
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>>
}

export interface Question {
  readonly system: string
  readonly user: string
  readonly tool?: AskTool
}

/** A tool call of the model, not judged yet. */
export interface ModelToolCall {
  readonly name: string
  readonly input: unknown
  readonly invalid: boolean
}

/** What the model answered, not judged yet. */
export interface Answered {
  readonly text: string
  readonly calls: readonly ModelToolCall[]
  readonly tokens: number
}

/** One request, no retry: the engine's deadline is the only one, and a second try would be a second bill. */
export async function askModel(
  { provider, language }: ServedModel,
  { system, user, tool }: Question,
  signal: AbortSignal,
): Promise<Answered> {
  const { generateText, jsonSchema, ToolChoiceViolationError } = await import('ai')
  let tokens = Math.ceil((system.length + user.length) / CHARACTERS_PER_TOKEN)
  try {
    const result = await generateText({
      ...callSettings,
      model: language,
      instructions: system,
      prompt: user,
      abortSignal: signal,
      onLanguageModelCallEnd: ({ usage }) => {
        tokens = usage.totalTokens ?? tokens
      },
      ...(tool === undefined
        ? {}
        : {
            tools: { [tool.name]: { description: tool.description, inputSchema: jsonSchema(tool.schema) } },
            toolChoice: { type: 'tool' as const, toolName: tool.name },
          }),
    })
    const calls = result.toolCalls.map(({ toolName: name, input, invalid }) => ({
      name,
      input,
      invalid: invalid === true,
    }))
    return { text: result.text, tokens, calls }
  } catch (thrown) {
    if (ToolChoiceViolationError.isInstance(thrown)) return { tokens, ...violation(thrown.content) }
    throw providerFailure(thrown, { provider, handler: 'prompt' })
  }
}

/** What every call of ours has in common. */
export const callSettings = {
  maxRetries: 0,
  maxOutputTokens: MAX_OUTPUT_TOKENS,
  temperature: 0,
  // What a tool is called with is nobody's business but the evaluator's.
  telemetry: { isEnabled: false },
  providerOptions: { openai: { store: false } },
} as const

type Part = { readonly type: string; readonly text?: string; readonly toolName?: string }

/** The model did not do as it was told: it talked, or called something else. */
function violation(content: readonly Part[]): Pick<Answered, 'text' | 'calls'> {
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  const others = content.filter(({ type }) => type === 'tool-call')
  return {
    text,
    calls: others.map(({ toolName = '' }) => ({ name: toolName, input: undefined, invalid: true })),
  }
}

/** What a failed call of a model is, for the handler that made it. */
const failureCodes = {
  prompt: { error: 'prompt.provider', invalid: 'prompt.parse' },
  agent: { error: 'agent.failed', invalid: 'agent.output_schema' },
} as const

/** Errors of the packages for a response that came and cannot be read. */
const unreadableResponse = /^AI_(?:JSONParse|TypeValidation|EmptyResponseBody)Error$/

/** The status and the provider's own sentence; never the request, which the packages keep on their errors. */
export function providerFailure(
  thrown: unknown,
  { provider, handler }: { provider: string; handler: keyof typeof failureCodes },
): HookError {
  if (thrown instanceof HookError) return thrown
  const cause = thrown instanceof Error ? thrown.cause : undefined
  // A deadline and an answer that is too large are what they are, also inside of an error of the packages.
  if (cause instanceof HookError && /\.(?:timeout|too_large)$/.test(cause.code)) return cause
  const codes = failureCodes[handler]
  const isUnreadable = [thrown, cause].some(
    (error) => error instanceof Error && unreadableResponse.test(error.name),
  )
  const code = isUnreadable ? codes.invalid : codes.error
  const status = thrown instanceof Error && 'statusCode' in thrown ? thrown.statusCode : undefined
  const answered = typeof status === 'number' ? `answered ${status}` : 'could not be asked'
  return handlerError(code, `the model provider ${provider} ${answered}: ${redact(errorText(thrown))}`)
}
