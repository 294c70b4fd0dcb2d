import { argumentsText, type FakeAnswer, usageOf } from './fake-answer.ts'
import { at, items, numberOf, spoken, textOf, type Wire } from './wire.ts'

/** Responses. */
export const openaiResponses: Wire = {
  path: /\/responses$/,
  read: (body) => ({
    model: textOf(body.model),
    system: [textOf(body.instructions), spoken(body.input, 'system', 'developer')].filter(Boolean).join('\n'),
    user: spoken(body.input, 'user'),
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
    output: output(answer),
    usage: counted(answer),
    error: null,
    incomplete_details: null,
  }),
  refuse: (status) => ({
    error: { message: 'the fake model fails', type: 'fake_error', code: String(status) },
  }),
}

function output({ text, calls = [] }: FakeAnswer): unknown[] {
  const said = text === undefined ? [] : [{ type: 'output_text', text, annotations: [] }]
  const message = { type: 'message', id: 'msg_fake', role: 'assistant', status: 'completed', content: said }
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

function counted(answer: FakeAnswer): unknown {
  const usage = usageOf(answer)
  if (usage === undefined) return null
  const { input, output: produced } = usage
  return { input_tokens: input, output_tokens: produced, total_tokens: input + produced }
}
