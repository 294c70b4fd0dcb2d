import { onTestFinished } from 'vitest'
import { type FakeAnswer, type FakeModel, type FakeRequest, startFakeModel } from '../../src/testing/index.ts'
import type { Running } from './running.fixture.ts'

export const decides = (decision: 'allow' | 'block', reason = 'as told'): FakeAnswer => ({
  calls: [{ tool: 'decide', input: { decision, reason } }],
})

/** A model that the default tenant, or another one, reaches as its own provider. */
export async function modelFor(
  gateway: Running,
  script: readonly FakeAnswer[] | ((request: FakeRequest) => FakeAnswer),
  headers: Readonly<Record<string, string>> = {},
): Promise<FakeModel> {
  const model = await startFakeModel({ script })
  onTestFinished(() => model.close())
  const provider = { baseUrl: model.url('anthropic'), apiKey: 'key-of-the-tenant' }
  const { status, body } = await gateway.call('PUT', '/v1/providers/anthropic', provider, headers)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return model
}

export const judge = {
  event: 'pre_tool_use',
  handler_type: 'prompt',
  scope: 'tenant',
  matcher: '^(exec|shell|write_file)$',
  config: { prompt_template: 'Evaluate safety of this tool call.', model: 'haiku' },
} as const

export const exec = (cmd: string) => ({ tool_name: 'exec', tool_input: { cmd } })
