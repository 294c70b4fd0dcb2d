import { expect, test } from 'vitest'
import { describeStart } from './up.ts'

const gateway = {
  url: 'http://127.0.0.1:4665',
  socket: undefined,
  tokenFile: '/data/token',
  isTokenKnown: true,
  home: '/data',
}

test('the start names the web app first, and says that its link signs in once', () => {
  const lines = describeStart(gateway, 'http://127.0.0.1:4665/login#abc').split('\n')
  expect(lines[0]).toBe('Hookhelm is running.')
  expect(lines[2]).toBe('  Web app  http://127.0.0.1:4665/login#abc')
  expect(lines[3]).toContain('once, within 10 minutes')
  expect(lines.join('\n')).toContain('hookhelm connect')
  expect(lines.join('\n')).not.toContain('Socket')
})

test('a token file that an owner revoked says how to get another', () => {
  const text = describeStart({ ...gateway, isTokenKnown: false, socket: '/run/x.sock' }, 'link')
  expect(text).toContain('/data/token  (revoked: remove this file')
  expect(text).toContain('  Socket   /run/x.sock')
})
