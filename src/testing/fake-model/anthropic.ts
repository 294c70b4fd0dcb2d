import { argumentsValue, type FakeAnswer, usageOf } from './fake-answer.ts'
import { at, contentText, items, numberOf, spoken, textOf, type Wire } from './wire.ts'

/** Messages. */
export const anthropic: Wire = {
  path: /\/messages$/,
  read: (body) => ({
    model: textOf(body.model),
    system: contentText(body.system),
    user: spoken(body.messages, 'user'),
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
    content: content(answer),
    stop_reason: answer.calls === undefined ? 'end_turn' : 'tool_use',
    stop_sequence: null,
    // This format always counts.
    usage: { input_tokens: usageOf(answer)?.input ?? 0, output_tokens: usageOf(answer)?.output ?? 0 },
  }),
  refuse: (status) => ({
    type: 'error',
    error: { type: errorType(status), message: 'the fake model fails' },
  }),
}

function content({ text, calls = [] }: FakeAnswer): unknown[] {
  const said = text === undefined ? [] : [{ type: 'text', text }]
  const called = calls.map((call, index) => ({
    type: 'tool_use',
    id: `toolu_fake_${index}`,
    name: call.tool,
    input: argumentsValue(call),
  }))
  return [...said, ...called]
}

function errorType(status: number): string {
  if (status === 429) return 'rate_limit_error'
  return status === 529 ? 'overloaded_error' : 'api_error'
}
