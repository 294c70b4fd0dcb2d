// Fake Anthropic Messages API (streaming and not). Used with Claude Code: ANTHROPIC_BASE_URL=http://127.0.0.1:PORT
import { callsOf, id, json, pick, sse } from './lib.mjs'

const toolResults = (messages = []) =>
  messages.flatMap((m) => (Array.isArray(m.content) ? m.content : [])).filter((b) => b.type === 'tool_result')
    .length

export async function anthropic({ req, res, url, body, steps }) {
  const p = url.pathname.replace(/\/+/g, '/')
  if ((req.method === 'HEAD' || req.method === 'GET') && p === '/') {
    res.writeHead(200)
    res.end()
    return true
  }
  if (req.method === 'POST' && p.endsWith('/v1/messages/count_tokens')) {
    json(res, 200, { input_tokens: 100 })
    return true
  }
  if (req.method === 'GET' && p.endsWith('/v1/models')) {
    json(res, 200, { data: [], has_more: false })
    return true
  }
  if (!(req.method === 'POST' && p.endsWith('/v1/messages'))) return false

  const step = pick(steps, toolResults(body.messages), (body.tools ?? []).length > 0)
  if (step.error) {
    json(
      res,
      step.error.status ?? 500,
      step.error.body ?? { type: 'error', error: { type: 'api_error', message: 'fake' } },
    )
    return true
  }
  const calls = callsOf(step)
  const content = []
  if (step.text !== undefined) content.push({ type: 'text', text: step.text })
  for (const c of calls) content.push({ type: 'tool_use', id: id('toolu_'), name: c.tool, input: c.input })
  const usage = {
    input_tokens: step.inputTokens ?? 100,
    output_tokens: 20,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  }
  const base = { id: id('msg_'), type: 'message', role: 'assistant', model: body.model }
  const stop_reason = calls.length ? 'tool_use' : 'end_turn'

  if (!body.stream) {
    json(res, 200, { ...base, content, stop_reason, stop_sequence: null, usage })
    return true
  }
  const s = sse(res)
  s.event('message_start', {
    type: 'message_start',
    message: {
      ...base,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...usage, output_tokens: 1 },
    },
  })
  content.forEach((b, index) => {
    if (b.type === 'text') {
      s.event('content_block_start', {
        type: 'content_block_start',
        index,
        content_block: { type: 'text', text: '' },
      })
      s.event('content_block_delta', {
        type: 'content_block_delta',
        index,
        delta: { type: 'text_delta', text: b.text },
      })
    } else {
      s.event('content_block_start', {
        type: 'content_block_start',
        index,
        content_block: { ...b, input: {} },
      })
      s.event('content_block_delta', {
        type: 'content_block_delta',
        index,
        delta: { type: 'input_json_delta', partial_json: JSON.stringify(b.input) },
      })
    }
    s.event('content_block_stop', { type: 'content_block_stop', index })
  })
  s.event('message_delta', {
    type: 'message_delta',
    delta: { stop_reason, stop_sequence: null },
    usage: { output_tokens: usage.output_tokens },
  })
  s.event('message_stop', { type: 'message_stop' })
  s.end()
  return true
}
