import { describe, expect, test } from 'vitest'
import { hostWith, inbound, messageCtx, on } from '../../test/openclaw/plugins.fixture.ts'

/** What the log says about a handler that rejects with this. */
async function logged(thrown: unknown): Promise<string> {
  const { runner, log } = hostWith([on('message_received', () => Promise.reject(thrown))])
  await runner.runMessageReceived({ from: 'u', content: 'hi' }, messageCtx)
  return log.at(-1)?.replace('error [hooks] message_received handler from plugin failed: ', '') ?? ''
}

describe('one line', () => {
  test('OC-11 line breaks, tabs and other control characters become one space', async () => {
    expect(await logged(new Error(' boom\r\n[hooks] forged\tline\u0000\u001b[31m\u009b\u2028end '))).toBe(
      'boom [hooks] forged line [31m end',
    )
  })

  test('OC-11 no more than 500 characters, and no half ones', async () => {
    expect(await logged(new Error('x'.repeat(900)))).toHaveLength(500)
    const clipped = await logged(new Error(`${'x'.repeat(499)}\u{1F980}`))
    expect(clipped).toBe('x'.repeat(499))
  })

  test.each([
    ['an error without a message', new TypeError(), 'TypeError'],
    ['an error with causes', new Error('a', { cause: new Error('b', { cause: 'c' }) }), 'a | b | c'],
    ['text', 'just text', 'just text'],
    ['a number', 42, '42'],
    ['an object', { code: 7 }, '{"code":7}'],
    ['nothing', undefined, 'unknown error'],
    ['blanks', ' \n ', 'unknown error'],
    ['a function', () => 'source', 'unknown error'],
  ])('OC-11 %s has a text', async (_, thrown, text) => {
    expect(await logged(thrown)).toBe(text)
  })

  test('OC-11 even what cannot be read has a text', async () => {
    const cyclic: { self?: unknown } = {}
    cyclic.self = cyclic
    expect(await logged(cyclic)).toBe('[object Object]')
    const hostile = Object.defineProperty(new Error('x'), 'message', {
      get() {
        throw new Error('no')
      },
    })
    expect(await logged(hostile)).toBe('a value that cannot be read was thrown')
    const circle = new Error('one')
    circle.cause = new Error('two', { cause: circle })
    expect(await logged(circle)).toBe('one | two')
  })
})

describe('no secrets', () => {
  // Put together here so that no scanner takes them for real ones.
  const secret = ['abcdefgh', '12345678', 'IJKLMNOP'].join('')
  test.each([
    [`key sk-${secret} refused`, 'key *** refused'],
    [`Authorization: Bearer ${secret}`, 'Authorization: Bearer ***'],
    [`Basic ${secret}==`, 'Basic ***'],
    [`GET /v1?api_key=${secret}&page=2`, 'GET /v1?api_key=***&page=2'],
    [`OPENAI_API_KEY=${secret}`, 'OPENAI_API_KEY=***'],
    [`{"apiKey": "${secret}", "n": 1}`, '{"apiKey": "***", "n": 1}'],
    [`x-api-key: ${secret}`, 'x-api-key: ***'],
    [`token=${secret}`, 'token=***'],
    [`password: '${secret}'`, "password: '***'"],
    [`run --token ${secret} --fast`, 'run --token *** --fast'],
    [`postgres://admin:${secret}@db/main`, 'postgres://admin:***@db/main'],
    [`ghp_${secret}`, '***'],
    [`github_pat_${secret}`, '***'],
    [`xoxb-${secret}`, '***'],
    [`npm_${secret}`, '***'],
    [`AKIA${'ABCDEFGH12345678'}`, '***'],
    [`AIza${secret}`, '***'],
    [`eyJ${secret}.${secret}.${secret}`, '***'],
    [`bot 123456789:${secret}`, 'bot ***'],
    [`-----BEGIN RSA PRIVATE KEY-----\n${secret}\n-----END RSA PRIVATE KEY----- end`, '*** end'],
  ])('OC-11 %s is not logged as it is', async (text, shown) => {
    expect(await logged(new Error(text))).toBe(shown)
  })

  test.each(['boom', 'used 500 tokens', 'no such key in map', 'task-1234567890', 'mask-everything-now'])(
    'OC-11 %s is logged as it is',
    async (text) => {
      expect(await logged(new Error(text))).toBe(text)
    },
  )

  test('OC-11 the error that is thrown carries none either', async () => {
    const { runner } = hostWith([on('inbound_claim', () => Promise.reject(`token=${secret}`))], {
      catchErrors: false,
    })
    await expect(runner.runInboundClaim(inbound, messageCtx)).rejects.toThrow(
      '[hooks] inbound_claim handler from plugin failed: token=***',
    )
  })

  test('OC-74 nor does the outcome of a claim', async () => {
    const { runner } = hostWith([on('inbound_claim', () => Promise.reject(`token=${secret}`))])
    expect(await runner.runInboundClaimForPluginOutcome('plugin', inbound, messageCtx)).toEqual({
      status: 'error',
      error: 'token=***',
    })
  })

  test.each([
    ['eyJ-', 500_000],
    ['token ', 500_000],
    ['://a:', 500_000],
    ['-----BEGIN PRIVATE KEY-----', 100_000],
    [' ', 5_000_000],
  ])(
    'OC-11 a long run of %j does not hang: its cost grows with its length, not with the square',
    async (part, times) => {
      expect((await logged(new Error(part.repeat(times)))).length).toBeLessThanOrEqual(500)
    },
  )
})
