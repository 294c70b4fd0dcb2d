// Fake Gemini API: models/X:streamGenerateContent (SSE), :generateContent, :countTokens.
// Used with Gemini CLI: GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:PORT GEMINI_API_KEY=dummy
import { callsOf, id, json, pick, sse } from './lib.mjs'

export async function gemini({ req, res, url, body, steps }) {
  const m = /\/models\/([^:/]+):(\w+)$/.exec(url.pathname)
  if (!m || req.method !== 'POST') return false
  const [, model, verb] = m
  if (verb === 'countTokens') {
    json(res, 200, { totalTokens: 100 })
    return true
  }
  const parts = (body.contents ?? []).flatMap((c) => c.parts ?? [])
  const done = parts.filter((p) => p.functionResponse).length
  const offers = (body.tools ?? []).some((t) => (t.functionDeclarations ?? []).length > 0)
  const wantsJson =
    body.generationConfig?.responseMimeType === 'application/json' ||
    body.generationConfig?.responseJsonSchema
  // JSON side requests (router, next-speaker check) get an object built from their own schema.
  const step =
    wantsJson && !offers
      ? {
          text: JSON.stringify(
            fromSchema(body.generationConfig.responseJsonSchema ?? body.generationConfig.responseSchema),
          ),
        }
      : pick(steps, done, offers)
  if (step.error) {
    json(
      res,
      step.error.status ?? 500,
      step.error.body ?? { error: { code: 500, message: 'fake', status: 'INTERNAL' } },
    )
    return true
  }
  const out = []
  if (step.text !== undefined) out.push({ text: step.text })
  for (const c of callsOf(step)) out.push({ functionCall: { id: id('fc_'), name: c.tool, args: c.input } })
  const n = step.inputTokens ?? 100
  const resp = {
    candidates: [{ index: 0, content: { role: 'model', parts: out }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: n, candidatesTokenCount: 20, totalTokenCount: n + 20 },
    modelVersion: model,
    responseId: id('r'),
  }
  if (verb === 'streamGenerateContent') {
    const s = sse(res)
    s.data(resp)
    s.end()
  } else json(res, 200, resp)
  return true
}

function fromSchema(s) {
  if (!s) return {}
  if (s.enum) return s.enum[0]
  const t = String(s.type ?? 'object').toLowerCase()
  if (t === 'object')
    return Object.fromEntries(Object.entries(s.properties ?? {}).map(([k, v]) => [k, fromSchema(v)]))
  if (t === 'array') return []
  if (t === 'number' || t === 'integer') return 1
  if (t === 'boolean') return false
  return 'ok'
}
