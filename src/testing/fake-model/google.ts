import { argumentsValue, type FakeAnswer, usageOf } from './fake-answer.ts'
import { at, contentText, items, numberOf, textOf, type Wire } from './wire.ts'

const path = /\/models\/([^/:]+):generateContent$/

/** generateContent. The model stands in the address, not in the body. */
export const google: Wire = {
  path,
  read: (body, address) => ({
    model: path.exec(address)?.[1] ?? '',
    system: contentText(at(body.systemInstruction, 'parts')),
    user: items(body.contents)
      .filter((content) => at(content, 'role') !== 'model')
      .map((content) => contentText(at(content, 'parts')))
      .join('\n'),
    tools: items(body.tools).flatMap((tool) =>
      items(at(tool, 'functionDeclarations')).map((declared) => textOf(at(declared, 'name'))),
    ),
    forcedTool: forcedTool(at(body.toolConfig, 'functionCallingConfig')),
    maxOutputTokens: numberOf(at(body.generationConfig, 'maxOutputTokens')),
    temperature: numberOf(at(body.generationConfig, 'temperature')),
  }),
  reply: (answer, model) => ({
    candidates: [{ index: 0, content: { role: 'model', parts: parts(answer) }, finishReason: 'STOP' }],
    ...counted(answer),
    modelVersion: model,
    responseId: 'fake',
  }),
  refuse: (status) => ({ error: { code: status, message: 'the fake model fails', status: 'FAKE' } }),
}

/** "Any tool" out of a list of one is that one. */
function forcedTool(choice: unknown): string | undefined {
  const allowed = items(at(choice, 'allowedFunctionNames'))
  return at(choice, 'mode') === 'ANY' && allowed.length === 1 ? textOf(allowed[0]) : undefined
}

function parts({ text, calls = [] }: FakeAnswer): unknown[] {
  const called = calls.map((call) => ({ functionCall: { name: call.tool, args: argumentsValue(call) } }))
  return [...(text === undefined ? [] : [{ text }]), ...called]
}

function counted(answer: FakeAnswer): Record<string, unknown> {
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
