// Fake OpenAI API: Responses (/v1/responses) and Chat Completions (/v1/chat/completions), streaming and not.
// Used with Codex CLI (Responses), OpenCode / Copilot CLI / AI SDK (either).
import { callsOf, id, json, pick, sse } from './lib.mjs'

const now = () => Math.floor(Date.now() / 1000)

function responses({ res, body, steps }) {
  const input = Array.isArray(body.input) ? body.input : []
  const done = input.filter((i) => /_output$/.test(i.type ?? '')).length
  const step = pick(steps, done, (body.tools ?? []).length > 0)
  if (step.error)
    return json(res, step.error.status ?? 500, step.error.body ?? { error: { message: 'fake' } })
  const rid = id('resp_')
  const output = []
  if (step.text !== undefined)
    output.push({
      type: 'message',
      id: id('msg_'),
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: step.text, annotations: [] }],
    })
  for (const c of callsOf(step)) {
    // `custom: true` (or a string input) plays a freeform/custom tool call such as apply_patch.
    output.push(
      c.custom || typeof c.input === 'string'
        ? {
            type: 'custom_tool_call',
            id: id('ctc_'),
            call_id: id('call_'),
            name: c.tool,
            input: c.input,
            status: 'completed',
          }
        : {
            type: 'function_call',
            id: id('fc_'),
            call_id: id('call_'),
            name: c.tool,
            ...(c.namespace ? { namespace: c.namespace } : {}),
            arguments: JSON.stringify(c.input),
            status: 'completed',
          },
    )
  }
  const usage = {
    input_tokens: step.inputTokens ?? 100,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: (step.inputTokens ?? 100) + 20,
  }
  const response = {
    id: rid,
    object: 'response',
    created_at: now(),
    model: body.model,
    status: 'completed',
    output,
    usage,
    error: null,
    incomplete_details: null,
  }
  if (!body.stream) return json(res, 200, response)
  const s = sse(res)
  let sequence_number = 0
  const ev = (type, data) => s.event(type, { type, sequence_number: sequence_number++, ...data })
  ev('response.created', { response: { ...response, status: 'in_progress', output: [], usage: null } })
  output.forEach((item, output_index) => {
    const empty =
      item.type === 'message'
        ? { ...item, content: [], status: 'in_progress' }
        : {
            ...item,
            status: 'in_progress',
            ...(item.arguments ? { arguments: '' } : {}),
            ...(item.type === 'custom_tool_call' ? { input: '' } : {}),
          }
    ev('response.output_item.added', { output_index, item: empty })
    if (item.type === 'message') {
      const part = { type: 'output_text', text: '', annotations: [] }
      ev('response.content_part.added', { item_id: item.id, output_index, content_index: 0, part })
      ev('response.output_text.delta', {
        item_id: item.id,
        output_index,
        content_index: 0,
        delta: step.text,
        logprobs: [],
      })
      ev('response.output_text.done', {
        item_id: item.id,
        output_index,
        content_index: 0,
        text: step.text,
        logprobs: [],
      })
      ev('response.content_part.done', {
        item_id: item.id,
        output_index,
        content_index: 0,
        part: { ...part, text: step.text },
      })
    } else if (item.type === 'function_call') {
      ev('response.function_call_arguments.delta', { item_id: item.id, output_index, delta: item.arguments })
      ev('response.function_call_arguments.done', {
        item_id: item.id,
        output_index,
        arguments: item.arguments,
      })
    }
    ev('response.output_item.done', { output_index, item })
  })
  ev('response.completed', { response })
  s.end()
}

function chat({ res, body, steps }) {
  const done = (body.messages ?? []).filter((m) => m.role === 'tool').length
  const step = pick(steps, done, (body.tools ?? []).length > 0)
  if (step.error)
    return json(res, step.error.status ?? 500, step.error.body ?? { error: { message: 'fake' } })
  const tool_calls = callsOf(step).map((c, index) => ({
    index,
    id: id('call_'),
    type: 'function',
    function: { name: c.tool, arguments: JSON.stringify(c.input) },
  }))
  const finish_reason = tool_calls.length ? 'tool_calls' : 'stop'
  const usage = {
    prompt_tokens: step.inputTokens ?? 100,
    completion_tokens: 20,
    total_tokens: (step.inputTokens ?? 100) + 20,
  }
  const base = { id: id('chatcmpl-'), created: now(), model: body.model }
  if (!body.stream) {
    return json(res, 200, {
      ...base,
      object: 'chat.completion',
      usage,
      choices: [
        {
          index: 0,
          finish_reason,
          message: {
            role: 'assistant',
            content: step.text ?? null,
            ...(tool_calls.length ? { tool_calls } : {}),
          },
        },
      ],
    })
  }
  const s = sse(res)
  const chunk = (delta, fr = null, extra = {}) =>
    s.data({
      ...base,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: fr }],
      ...extra,
    })
  chunk({ role: 'assistant', content: step.text ?? '' })
  if (tool_calls.length) chunk({ tool_calls })
  chunk({}, finish_reason)
  s.data({ ...base, object: 'chat.completion.chunk', choices: [], usage })
  s.data('[DONE]')
  s.end()
}

export async function openai(ctx) {
  const { req, url, res } = ctx
  const p = url.pathname
  if (req.method === 'POST' && p.endsWith('/responses')) {
    responses(ctx)
    return true
  }
  if (req.method === 'POST' && p.endsWith('/chat/completions')) {
    chat(ctx)
    return true
  }
  if (req.method === 'GET' && p.endsWith('/models')) {
    json(res, 200, {
      object: 'list',
      data: [{ id: 'fake-model', object: 'model', created: 0, owned_by: 'fake' }],
      models: [],
    })
    return true
  }
  return false
}
