import { expect, test } from 'vitest'
import { readUrl, shownUrl } from './url.ts'

test.each([
  ['file:///etc/passwd', 'non_http_scheme'],
  ['gopher://x/', 'non_http_scheme'],
  ['data:text/plain,x', 'non_http_scheme'],
  ['unix:/run/docker.sock', 'non_http_scheme'],
  ['ftp://x/', 'non_http_scheme'],
  ['javascript:alert(1)', 'non_http_scheme'],
  ['http://name@x.example/', 'url_parse_error'],
  ['https://name:password@x.example/', 'url_parse_error'],
  ['https://:password@x.example/', 'url_parse_error'],
  ['//x.example/', 'url_parse_error'],
  ['x.example', 'url_parse_error'],
  ['http://', 'url_parse_error'],
  ['http://a b/', 'url_parse_error'],
  ['http://[fe80::1%25eth0]/', 'url_parse_error'],
  ['http://x:99999/', 'url_parse_error'],
  ['', 'url_parse_error'],
])('4.5 #75 GC-59 %s is refused: %s', (text, reason) => {
  const reasons: string[] = []
  expect(() => readUrl(text, (why) => reasons.push(why))).toThrow(
    expect.objectContaining({ code: 'config.url' }),
  )
  expect(reasons).toEqual([reason])
})

test('4.5 #75 the message does not repeat what may be a password', () => {
  expect(() => readUrl('https://name:hunter2@x.example/')).not.toThrow(/hunter2/)
})

test('a fragment is dropped, everything else stays', () => {
  expect(readUrl('HTTPS://Example.COM:443/a?b=c#d').href).toBe('https://example.com/a?b=c')
})

test.each([
  ['https://name:pw@x.example/a/b?token=1#f', 'https://x.example/a/b'],
  ['http://169.254.169.254/latest?x', 'http://169.254.169.254/latest'],
  ['not a url?secret=1', 'not a url'],
])('GC-62 a log shows %s as %s', (text, shown) => {
  expect(shownUrl(text)).toBe(shown)
})
