import { randomBytes } from 'node:crypto'
import { readFile, realpath } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

/** `index.html` contains this placeholder wherever a page needs its nonce. */
const NONCE_MARK = '__HOOKHELM_NONCE__'

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

const compress = promisify(gzip)
/** Files of these kinds shrink to a third; fonts and pictures are compressed already. */
const compressible = new Set(['.js', '.css', '.svg', '.json', '.map'])

/** Returns the page or file at a path below `/ui/`, or undefined. `accepts` is the request's Accept-Encoding. */
export type FindUiFile = (path: string, accepts?: string) => Promise<Response | undefined>

/** Serves the files of a directory. Paths without a file extension are routes of the single-page app. */
export function uiFiles(directory: string | undefined): FindUiFile {
  if (directory === undefined) return async (path) => (path === '' ? page(PLACEHOLDER) : undefined)
  const compressed = new Map<string, Promise<Buffer>>()

  /** Compressed once: the build names files in `assets` by their content. */
  function compressedFile(path: string, bytes: Buffer): Promise<Buffer> {
    const known = compressed.get(path) ?? compress(bytes, { level: 9 })
    compressed.set(path, known)
    return known
  }

  return async (path, accepts = '') => {
    const extension = extname(path)
    if (extension === '' || path === 'index.html') {
      const html = await fileBelow(directory, 'index.html')
      return html === undefined ? undefined : page(html.toString('utf8'))
    }
    const type = types[extension]
    const bytes = type === undefined ? undefined : await fileBelow(directory, path)
    if (bytes === undefined || type === undefined) return undefined
    if (!compressible.has(extension) || !path.startsWith('assets/') || !/\bgzip\b/.test(accepts))
      return file(bytes, { type, path })
    return file(await compressedFile(path, bytes), { type, path, encoding: 'gzip' })
  }
}

export function newNonce(): string {
  return randomBytes(16).toString('base64url')
}

/** Inline code runs only with the nonce of this page, and no other site may frame it. */
export function pageHeaders(nonce: string): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ]
  return {
    'Content-Security-Policy': policy.join('; '),
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cache-Control': 'no-store',
  }
}

/** A file is no page: opened by itself, it may load and run nothing. A first visit fetches many, so these are few. */
const fileHeaders = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

function page(html: string): Response {
  const nonce = newNonce()
  return new Response(html.replaceAll(NONCE_MARK, nonce), {
    headers: { ...pageHeaders(nonce), 'Content-Type': 'text/html; charset=utf-8' },
  })
}

function file(
  bytes: Buffer,
  { type, path, encoding }: { readonly type: string; readonly path: string; readonly encoding?: string },
): Response {
  // The build names files in `assets` by their content hash, so they never change.
  const caching = path.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache'
  const headers = {
    ...fileHeaders,
    'Content-Type': type,
    'Cache-Control': caching,
    Vary: 'Accept-Encoding',
    ...(encoding === undefined ? {} : { 'Content-Encoding': encoding }),
  }
  return new Response(new Uint8Array(bytes), { headers })
}

/** Resolves symbolic links before the check, so that none leads out of the directory. */
async function fileBelow(directory: string, path: string): Promise<Buffer | undefined> {
  try {
    const root = await realpath(directory)
    const real = await realpath(join(root, path))
    return real.startsWith(root + sep) ? await readFile(real) : undefined
  } catch {
    return undefined
  }
}

const PLACEHOLDER = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Hookhelm</title>
<style nonce="${NONCE_MARK}">body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem }</style>
<h1>Hookhelm is running</h1>
<p>The web app is not built. In a checkout, run <code>npm run build:ui</code> and start the gateway again. The gateway serves:</p>
<ul>
<li><code>POST /v1/dispatch</code> returns the decision for an event</li>
<li><code>/v1/…</code> all methods, described in <a href="/v1/openapi.json">/v1/openapi.json</a></li>
<li><code>/ws</code> all methods over WebSocket</li>
<li><a href="/healthz">/healthz</a> whether the gateway is ready</li>
</ul>
</html>
`
