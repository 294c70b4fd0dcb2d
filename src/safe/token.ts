import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** A fresh bearer token. The prefix lets people and scanners see what it is, and `redact` hide it. */
export function newToken(): string {
  return `hh_${randomBytes(32).toString('base64url')}`
}

/** What is stored in its place. A token is 256 random bits, so it needs neither salt nor a slow hash. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

/** Compares digests, so that the time taken tells neither the length nor a common beginning. */
export function sameToken(given: string, stored: Uint8Array): boolean {
  const digest = hashToken(given)
  return stored.byteLength === digest.byteLength && timingSafeEqual(digest, stored)
}

/** The same for a text that we have at hand: every character is looked at, so that the time tells only the length. */
export function sameText(given: string, known: string): boolean {
  if (given.length !== known.length) return false
  let difference = 0
  for (let at = 0; at < known.length; at++) difference |= given.charCodeAt(at) ^ known.charCodeAt(at)
  return difference === 0
}
