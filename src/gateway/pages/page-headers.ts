import { randomBytes } from 'node:crypto'

/** Stands in `index.html` wherever a page names its nonce. */
export const NONCE_MARK = '__HOOKHELM_NONCE__'

export function newNonce(): string {
  return randomBytes(16).toString('base64url')
}

/** Nothing inline runs without the nonce of this very page, and no other site may put it in a frame. */
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
