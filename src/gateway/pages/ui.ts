import { readFile, realpath } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { NONCE_MARK, newNonce, pageHeaders } from './page-headers.ts'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.map': 'application/json',
}

/** Answers the path of a page or file below `/ui/`; undefined when there is no such file. */
export type Ui = (path: string) => Promise<Response | undefined>

/** The files of a directory; every path without an ending is the one page of the app, which reads it itself. */
export function uiOf(directory: string | undefined): Ui {
  if (directory === undefined) return async (path) => (path === '' ? page(BUILT_IN) : undefined)
  return async (path) => {
    const ending = extname(path)
    if (ending === '' || path === 'index.html') {
      const html = await fileBelow(directory, 'index.html')
      return html === undefined ? undefined : page(html.toString('utf8'))
    }
    const type = types[ending]
    const bytes = type === undefined ? undefined : await fileBelow(directory, path)
    return bytes === undefined || type === undefined ? undefined : file(bytes, { type, path })
  }
}

function page(html: string): Response {
  const nonce = newNonce()
  return new Response(html.replaceAll(NONCE_MARK, nonce), {
    headers: { ...pageHeaders(nonce), 'Content-Type': 'text/html; charset=utf-8' },
  })
}

function file(bytes: Buffer, { type, path }: { readonly type: string; readonly path: string }): Response {
  // The build names files of `assets` by their content, so that they never change.
  const kept = path.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache'
  const headers = { ...pageHeaders(newNonce()), 'Content-Type': type, 'Cache-Control': kept }
  return new Response(new Uint8Array(bytes), { headers })
}

/** Links are followed before the check, so that none leads out of the directory. */
async function fileBelow(directory: string, path: string): Promise<Buffer | undefined> {
  try {
    const root = await realpath(directory)
    const real = await realpath(join(root, path))
    return real.startsWith(root + sep) ? await readFile(real) : undefined
  } catch {
    return undefined
  }
}

const BUILT_IN = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Hookhelm</title>
<style nonce="${NONCE_MARK}">body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem }</style>
<h1>Hookhelm is running</h1>
<p>The web interface is not installed. What there is:</p>
<ul>
<li><code>POST /v1/dispatch</code> decides about an event</li>
<li><code>/v1/…</code> everything else, described in <a href="/v1/openapi.json">/v1/openapi.json</a></li>
<li><code>/ws</code> the same over WebSocket</li>
<li><a href="/healthz">/healthz</a> whether the gateway is ready</li>
</ul>
</html>
`
