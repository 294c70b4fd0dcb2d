// What the fake model servers share.

import { randomBytes } from 'node:crypto'
import http from 'node:http'

export const id = (prefix) => `${prefix}${randomBytes(9).toString('hex')}`

/**
 * A scenario is a list of steps; step = { tool, input } | { tools: [{tool,input}] } | { text } | { error: {status, body} }
 * The step played is the number of tool results already in the conversation (counted by
 * the protocol module), so the server keeps no state and side requests cannot shift it.
 * A request that offers no tools is a side request (title, summary): it always gets `sideText`.
 */
export function pick(steps, toolResultsSoFar, offersTools, sideText = 'ok') {
  if (!offersTools) return { text: sideText }
  return steps[Math.min(toolResultsSoFar, steps.length - 1)]
}

export const callsOf = (step) =>
  (step.tools ?? (step.tool ? [step] : [])).map((c) => ({ ...c, input: c.input ?? {} }))

export function sse(res) {
  res.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    connection: 'keep-alive',
  })
  return {
    event: (name, data) => res.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`),
    data: (data) => res.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`),
    end: () => res.end(),
  }
}

export const json = (res, status, body) => {
  const s = JSON.stringify(body)
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(s) })
  res.end(s)
}

async function readBody(req) {
  const chunks = []
  for await (const c of req) chunks.push(c)
  const raw = Buffer.concat(chunks).toString('utf8')
  try {
    return raw ? JSON.parse(raw) : null
  } catch {
    return raw
  }
}

/** routes: array of (ctx) => boolean|Promise<boolean>; ctx = {req,res,url,body,steps} */
export function serve(opts, routes) {
  const log = (o) => opts.seen?.(o)
  const server = http.createServer(async (req, res) => {
    const url = new URL(req.url, 'http://x')
    const body = await readBody(req)
    try {
      await log({ method: req.method, path: req.url, body })
      for (const r of routes) if (await r({ req, res, url, body, steps: opts.steps })) return
      json(res, 404, { error: { message: `fake server has no ${req.method} ${url.pathname}` } })
    } catch (e) {
      if (!res.headersSent) json(res, 500, { error: { message: String(e) } })
      else res.end()
    }
  })
  return new Promise((resolve) =>
    server.listen(opts.port, opts.host, () => {
      const { port } = server.address()
      resolve({ server, port, url: `http://${opts.host}:${port}` })
    }),
  )
}
