import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** What the model says to one request: words, tool calls, or both. */
export interface Step {
  readonly text?: string
  readonly calls?: readonly { readonly tool: string; readonly input: unknown }[]
  /** It fails, and asks to be tried again at once. */
  readonly status?: number
}

// biome-ignore lint/suspicious/noExplicitAny: whatever a client sends, for tests to look into
type Body = any

export interface FakeOpenAi {
  readonly url: string
  readonly requests: Body[]
}

/** OpenAI's two formats on loopback, in one piece and streamed. The n-th request gets the n-th step, later ones the last. */
export async function fakeOpenAi(...steps: readonly Step[]): Promise<FakeOpenAi> {
  const requests: Body[] = []
  const server = createServer(async (incoming, response) => {
    const body = JSON.parse(await textOf(incoming))
    requests.push(body)
    const step = steps[Math.min(requests.length, steps.length) - 1] ?? {}
    if (step.status !== undefined) {
      response.writeHead(step.status, { 'retry-after-ms': '1' })
      return response.end('{}')
    }
    const isChat = incoming.url?.endsWith('/chat/completions')
    if (isChat) chat(response, body, step, requests.length)
    else responses(response, body, step, requests.length)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/v1`, requests }
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

function send(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

function events(response: ServerResponse): (data: unknown, name?: string) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  return (data, name) => {
    const text = typeof data === 'string' ? data : JSON.stringify(data)
    response.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`)
  }
}

/** In small pieces, as models do. */
function pieces(text: string): string[] {
  return text.match(/.{1,4}/gs) ?? []
}

function chat(response: ServerResponse, body: Body, { text, calls = [] }: Step, turn: number): void {
  const tool_calls = calls.map(({ tool, input }, index) => ({
    index,
    id: `call_${turn}_${index}`,
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(input) },
  }))
  const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop'
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }
  const base = { id: `chatcmpl-${turn}`, created: 1_700_000_000, model: body.model }
  if (!body.stream) {
    const message = {
      role: 'assistant',
      content: text ?? null,
      ...(calls.length > 0 ? { tool_calls } : {}),
    }
    const choices = [{ index: 0, finish_reason, message }]
    return send(response, { ...base, object: 'chat.completion', usage, choices })
  }
  const say = events(response)
  const chunk = (delta: unknown, finish: string | null = null) =>
    say({
      ...base,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: finish }],
    })
  chunk({ role: 'assistant', content: '' })
  for (const piece of pieces(text ?? '')) chunk({ content: piece })
  if (calls.length > 0) chunk({ tool_calls })
  chunk({}, finish_reason)
  say({ ...base, object: 'chat.completion.chunk', choices: [], usage })
  say('[DONE]')
  response.end()
}

function responses(response: ServerResponse, body: Body, { text, calls = [] }: Step, turn: number): void {
  const said = { type: 'output_text', text, annotations: [] }
  const message = {
    type: 'message',
    id: `msg_${turn}`,
    role: 'assistant',
    status: 'completed',
    content: [said],
  }
  const called = calls.map(({ tool, input }, index) => ({
    type: 'function_call',
    id: `fc_${turn}_${index}`,
    call_id: `call_${turn}_${index}`,
    name: tool,
    arguments: JSON.stringify(input),
    status: 'completed',
  }))
  const output = [...(text === undefined ? [] : [message]), ...called]
  const whole = {
    id: `resp_${turn}`,
    object: 'response',
    created_at: 1_700_000_000,
    model: body.model,
    status: 'completed',
    output,
    usage: {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 120,
    },
    error: null,
    incomplete_details: null,
  }
  if (!body.stream) return send(response, whole)
  const say = events(response)
  let sequence_number = 0
  const tell = (type: string, data: object) =>
    say({ type, sequence_number: sequence_number++, ...data }, type)
  tell('response.created', { response: { ...whole, status: 'in_progress', output: [], usage: null } })
  output.forEach((item, output_index) => {
    const open = 'content' in item ? { ...item, content: [] } : { ...item, arguments: '' }
    tell('response.output_item.added', { output_index, item: { ...open, status: 'in_progress' } })
    const at = { item_id: item.id, output_index }
    if ('content' in item) {
      tell('response.content_part.added', { ...at, content_index: 0, part: { ...said, text: '' } })
      for (const delta of pieces(text ?? ''))
        tell('response.output_text.delta', { ...at, content_index: 0, delta, logprobs: [] })
      tell('response.output_text.done', { ...at, content_index: 0, text, logprobs: [] })
      tell('response.content_part.done', { ...at, content_index: 0, part: said })
    } else {
      tell('response.function_call_arguments.delta', { ...at, delta: item.arguments })
      tell('response.function_call_arguments.done', { ...at, arguments: item.arguments })
    }
    tell('response.output_item.done', { output_index, item })
  })
  tell('response.completed', { response: whole })
  response.end()
}
