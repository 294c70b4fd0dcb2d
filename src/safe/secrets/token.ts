import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** A new bearer token. People, secret scanners and `redact` recognize it by its prefix. */
export function newToken(): string {
  return `hh_${randomBytes(32).toString('base64url')}`
}

/** The hash that the store keeps. A token has 256 random bits, so it needs neither salt nor a slow hash. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

/** Compares digests, so that timing reveals neither the length nor a common prefix. */
export function sameToken(given: string, stored: Uint8Array): boolean {
  const digest = hashToken(given)
  return stored.byteLength === digest.byteLength && timingSafeEqual(digest, stored)
}

/** Compares two texts in constant time; timing reveals only the length. */
export function sameText(given: string, known: string): boolean {
  if (given.length !== known.length) return false
  let difference = 0
  for (let at = 0; at < known.length; at++) difference |= given.charCodeAt(at) ^ known.charCodeAt(at)
  return difference === 0
}
