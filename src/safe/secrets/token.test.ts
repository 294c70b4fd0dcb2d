import { expect, test } from 'vitest'
import { hashToken, newToken, sameText, sameToken } from './token.ts'

test('4.10 #134 only the token itself is the token', () => {
  const token = newToken()
  const stored = hashToken(token)
  expect(sameToken(token, stored)).toBe(true)
  for (const wrong of [
    newToken(),
    `${token}x`,
    token.slice(0, -1),
    token.toUpperCase(),
    '',
    stored.toString('hex'),
  ])
    expect(sameToken(wrong, stored)).toBe(false)
})

test('4.10 #134 a stored value of the wrong length is an answer, not an exception', () => {
  expect(sameToken('x', Buffer.alloc(3))).toBe(false)
  expect(sameToken('x', Buffer.alloc(0))).toBe(false)
})

test('tokens carry 256 random bits and never repeat', () => {
  const tokens = new Set(Array.from({ length: 1_000 }, newToken))
  expect(tokens.size).toBe(1_000)
  for (const token of tokens) expect(token).toMatch(/^hh_[\w-]{43}$/)
})

test('texts are the same only when every character is', () => {
  expect(sameText('Bearer abc', 'Bearer abc')).toBe(true)
  for (const other of ['Bearer abd', 'bearer abc', 'Bearer ab', 'Bearer abcd', ''])
    expect(sameText(other, 'Bearer abc')).toBe(false)
})
