import { isRecord } from '../../engine/core/schema/check.ts'
import { argumentsText, argumentsValue, type FakeAnswer, usageOf } from './fake-answer.ts'

/** The provider whose wire format a client of the fake model uses. */
export type FakeProvider = 'anthropic' | 'openai' | 'google' | 'openai-compatible'

type Body = Readonly<Record<string, unknown>>

/** The contents of a request, in any of the wire formats. */
export interface ModelRequest {
  readonly model: string
  /** All system-level text. */
  readonly system: string
  /** All text of user messages. */
  readonly user: string
  /** Names of the offered tools. */
  readonly tools: readonly string[]
  /** The tool that the request forces the model to call. */
  readonly forcedTool: string | undefined
  readonly maxOutputTokens: number | undefined
  readonly temperature: number | undefined
}

/** One wire format: reads requests, writes answers and errors. */
export interface WireFormat {
  readonly path: RegExp
  read(body: Body, path: string): ModelRequest
  reply(answer: FakeAnswer, model: string): unknown
  refuse(status: number): unknown
}

/** Anthropic's Messages API. */
const anthropic: WireFormat = {
  path: /\/messages$/,
  read: (body) => ({
    model: textOf(body.model),
    system: contentText(body.system),
    user: textOfRoles(body.messages, 'user'),
    tools: items(body.tools).map((tool) => textOf(at(tool, 'name'))),
    forcedTool: at(body.tool_choice, 'type') === 'tool' ? textOf(at(body.tool_choice, 'name')) : undefined,
    maxOutputTokens: numberOf(body.max_tokens),
    temperature: numberOf(body.temperature),
  }),
  reply: (answer, model) => ({
    id: 'msg_fake',
    type: 'message',
    role: 'assistant',
    model,
    content: anthropicContent(answer),
    stop_reason: answer.calls === undefined ? 'end_turn' : 'tool_use',
    stop_sequence: null,
    // This format requires token counts.
    usage: { input_tokens: usageOf(answer)?.input ?? 0, output_tokens: usageOf(answer)?.output ?? 0 },
  }),
  refuse: (status) => ({
    type: 'error',
    error: { type: anthropicErrorType(status), message: 'the fake model fails' },
  }),
}

function anthropicContent({ text, calls = [] }: FakeAnswer): unknown[] {
  const texts = text === undefined ? [] : [{ type: 'text', text }]
  const called = calls.map((call, index) => ({
    type: 'tool_use',
    id: `toolu_fake_${index}`,
    name: call.tool,
    input: argumentsValue(call),
  }))
  return [...texts, ...called]
}

function anthropicErrorType(status: number): string {
  if (status === 429) return 'rate_limit_error'
  return status === 529 ? 'overloaded_error' : 'api_error'
}

const googlePath = /\/models\/([^/:]+):generateContent$/

/** Google's generateContent. The URL names the model. */
const google: WireFormat = {
  path: googlePath,
  read: (body, address) => ({
    model: googlePath.exec(address)?.[1] ?? '',
    system: contentText(at(body.systemInstruction, 'parts')),
    user: items(body.contents)
      .filter((content) => at(content, 'role') !== 'model')
      .map((content) => contentText(at(content, 'parts')))
      .join('\n'),
    tools: items(body.tools).flatMap((tool) =>
      items(at(tool, 'functionDeclarations')).map((declared) => textOf(at(declared, 'name'))),
    ),
    forcedTool: googleForcedTool(at(body.toolConfig, 'functionCallingConfig')),
    maxOutputTokens: numberOf(at(body.generationConfig, 'maxOutputTokens')),
    temperature: numberOf(at(body.generationConfig, 'temperature')),
  }),
  reply: (answer, model) => ({
    candidates: [{ index: 0, content: { role: 'model', parts: googleParts(answer) }, finishReason: 'STOP' }],
    ...googleUsage(answer),
    modelVersion: model,
    responseId: 'fake',
  }),
  refuse: (status) => ({ error: { code: status, message: 'the fake model fails', status: 'FAKE' } }),
}

/** Mode ANY with a single allowed function forces that function. */
function googleForcedTool(choice: unknown): string | undefined {
  const allowed = items(at(choice, 'allowedFunctionNames'))
  return at(choice, 'mode') === 'ANY' && allowed.length === 1 ? textOf(allowed[0]) : undefined
}

function googleParts({ text, calls = [] }: FakeAnswer): unknown[] {
  const called = calls.map((call) => ({ functionCall: { name: call.tool, args: argumentsValue(call) } }))
  return [...(text === undefined ? [] : [{ text }]), ...called]
}

function googleUsage(answer: FakeAnswer): Record<string, unknown> {
  const usage = usageOf(answer)
  if (usage === undefined) return {}
  const { input, output } = usage
  return {
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: output,
      totalTokenCount: input + output,
    },
  }
}

/** OpenAI's Chat Completions API. */
const openaiChat: WireFormat = {
  path: /\/chat\/completions$/,
  read: (body) => ({
    model: textOf(body.model),
    system: textOfRoles(body.messages, 'system', 'developer'),
    user: textOfRoles(body.messages, 'user'),
    tools: items(body.tools).map((tool) => textOf(at(tool, 'function', 'name'))),
    forcedTool: textOf(at(body.tool_choice, 'function', 'name')) || undefined,
    maxOutputTokens: numberOf(body.max_tokens) ?? numberOf(body.max_completion_tokens),
    temperature: numberOf(body.temperature),
  }),
  reply: (answer, model) => ({
    id: 'chatcmpl-fake',
    object: 'chat.completion',
    created: 1_700_000_000,
    model,
    choices: [
      {
        index: 0,
        finish_reason: answer.calls === undefined ? 'stop' : 'tool_calls',
        message: chatMessage(answer),
      },
    ],
    ...chatUsage(answer),
  }),
  refuse: openaiError,
}

function openaiError(status: number): unknown {
  return { error: { message: 'the fake model fails', type: 'fake_error', code: String(status) } }
}

function chatMessage({ text, calls }: FakeAnswer): unknown {
  const called = calls?.map((call, index) => ({
    id: `call_fake_${index}`,
    type: 'function',
    function: { name: call.tool, arguments: argumentsText(call) },
  }))
  return {
    role: 'assistant',
    content: text ?? null,
    ...(called === undefined ? {} : { tool_calls: called }),
  }
}

function chatUsage(answer: FakeAnswer): Record<string, unknown> {
  const usage = usageOf(answer)
  if (usage === undefined) return {}
  const { input, output } = usage
  return { usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output } }
}

/** OpenAI's Responses API. */
const openaiResponses: WireFormat = {
  path: /\/responses$/,
  read: (body) => ({
    model: textOf(body.model),
    system: [textOf(body.instructions), textOfRoles(body.input, 'system', 'developer')]
      .filter(Boolean)
      .join('\n'),
    user: textOfRoles(body.input, 'user'),
    tools: items(body.tools).map((tool) => textOf(at(tool, 'name'))),
    forcedTool: textOf(at(body.tool_choice, 'name')) || undefined,
    maxOutputTokens: numberOf(body.max_output_tokens),
    temperature: numberOf(body.temperature),
  }),
  reply: (answer, model) => ({
    id: 'resp_fake',
    object: 'response',
    created_at: 1_700_000_000,
    model,
    status: 'completed',
    output: responsesOutput(answer),
    usage: responsesUsage(answer),
    error: null,
    incomplete_details: null,
  }),
  refuse: openaiError,
}

function responsesOutput({ text, calls = [] }: FakeAnswer): unknown[] {
  const texts = text === undefined ? [] : [{ type: 'output_text', text, annotations: [] }]
  const message = { type: 'message', id: 'msg_fake', role: 'assistant', status: 'completed', content: texts }
  const called = calls.map((call, index) => ({
    type: 'function_call',
    id: `fc_fake_${index}`,
    call_id: `call_fake_${index}`,
    name: call.tool,
    arguments: argumentsText(call),
    status: 'completed',
  }))
  return [...(text === undefined ? [] : [message]), ...called]
}

function responsesUsage(answer: FakeAnswer): unknown {
  const usage = usageOf(answer)
  if (usage === undefined) return null
  const { input, output: produced } = usage
  return { input_tokens: input, output_tokens: produced, total_tokens: input + produced }
}

/** Tried in this order: the first format whose `path` matches reads the request. */
export const wireFormats: readonly WireFormat[] = [anthropic, openaiResponses, openaiChat, google]

/** Reads a path in parsed JSON; undefined if it does not exist. */
function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, key) => {
    if (Array.isArray(inner)) return typeof key === 'number' ? inner[key] : undefined
    return isRecord(inner) ? inner[key] : undefined
  }, value)
}

function items(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

/** A content string, or the text of all content parts. */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  return items(content)
    .map((part) => textOf(at(part, 'text')))
    .filter(Boolean)
    .join('\n')
}

/** The text of all messages with one of the roles. */
function textOfRoles(messages: unknown, ...roles: readonly string[]): string {
  return items(messages)
    .filter((message) => roles.includes(textOf(at(message, 'role'))))
    .map((message) => contentText(at(message, 'content')))
    .join('\n')
}
