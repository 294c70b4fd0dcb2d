import { argumentsText, type FakeAnswer, usageOf } from './fake-answer.ts'
import { at, items, numberOf, spoken, textOf, type Wire } from './wire.ts'

/** Chat Completions. */
export const openaiChat: Wire = {
  path: /\/chat\/completions$/,
  read: (body) => ({
    model: textOf(body.model),
    system: spoken(body.messages, 'system', 'developer'),
    user: spoken(body.messages, 'user'),
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
        message: message(answer),
      },
    ],
    ...counted(answer),
  }),
  refuse: (status) => ({
    error: { message: 'the fake model fails', type: 'fake_error', code: String(status) },
  }),
}

function message({ text, calls }: FakeAnswer): unknown {
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

function counted(answer: FakeAnswer): Record<string, unknown> {
  const usage = usageOf(answer)
  if (usage === undefined) return {}
  const { input, output } = usage
  return { usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output } }
}
