import { createServer } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { type BadReceiver, badReceiver } from '../../testing/bad-receiver.ts'
import { createOutbound, type Outbound, requireSuccess } from './outbound.ts'

let receiver: BadReceiver
let outbound: Outbound

beforeAll(async () => {
  receiver = await badReceiver()
  outbound = createOutbound({ allow: ['127.0.0.1'] })
})
afterAll(async () => {
  await outbound.dispose()
  await receiver.close()
})
afterEach(() => vi.unstubAllEnvs())

const never = new AbortController().signal
const post = (path: string, signal = never) =>
  outbound.request({ url: new URL(path, receiver.origin), body: '{}', signal })
const failing = (code: string) => expect.objectContaining({ name: 'HookError', code })
const bytes = async (path: string) => (await post(path)).body.toString()

describe('every limit is finite', () => {
  test.each(['/huge', '/huge-length', '/flood', '/gzip-bomb', '/huge-header'])(
    'GC-55 %s is left as soon as it is too large',
    async (path) => {
      await expect(post(path)).rejects.toThrow(failing('outbound.too_large'))
    },
  )

  test('the limit counts decoded bytes', async () => {
    const narrow = createOutbound({ allow: ['127.0.0.1'], maxBytes: 50 })
    const ask = (path: string) =>
      narrow.request({ url: new URL(path, receiver.origin), body: '{}', signal: never })
    await expect(ask('/gzip')).rejects.toThrow(failing('outbound.too_large'))
    expect((await ask('/allow').catch((error: unknown) => error)) as object).toMatchObject({
      code: 'outbound.too_large',
    })
    expect((await ask('/html')).status).toBe(200)
    await narrow.dispose()
  })

  test.each(['/hang', '/hang-headers', '/hang-body', '/drip-headers', '/drip-body'])(
    '4.5 #78 one deadline ends %s',
    async (path) => {
      await expect(post(path, AbortSignal.timeout(60))).rejects.toThrow(failing('outbound.timeout'))
    },
  )

  test('4.5 #78 the deadline covers the look-up of the name too', async () => {
    const slow = createOutbound({ dns: () => new Promise(() => undefined) })
    const url = new URL('http://slow.example/')
    await expect(slow.request({ url, signal: AbortSignal.timeout(20) })).rejects.toThrow(
      failing('outbound.timeout'),
    )
    await slow.dispose()
  })

  test('4.5 #78 and a connection that is never accepted', async () => {
    // Nothing answers the handshake: the socket that was dialled is paused by its own dial.
    const stuck = createOutbound({ allow: ['127.0.0.1'], dial: () => () => undefined })
    const url = new URL(receiver.origin)
    await expect(stuck.request({ url, signal: AbortSignal.timeout(20) })).rejects.toThrow(
      failing('outbound.timeout'),
    )
    await stuck.dispose()
  })

  test('a call with a signal that is over is not made', async () => {
    const before = receiver.received.length
    await expect(post('/allow', AbortSignal.abort())).rejects.toThrow(failing('outbound.timeout'))
    expect(receiver.received).toHaveLength(before)
  })
})

describe('broken ways', () => {
  test.each(['/reset', '/reset-mid-body', '/short-body', '/two-lengths', '/not-http'])(
    '4.5 #80 %s',
    async (path) => {
      await expect(post(path)).rejects.toThrow(failing('outbound.connection'))
    },
  )

  test('4.5 #80 what comes behind the announced length is not part of the answer', async () => {
    expect(await bytes('/long-body')).toBe('{"decision":"allow"}')
  })

  test('4.5 #80 nobody listens', async () => {
    const server = createServer()
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        const address = server.address()
        resolve(typeof address === 'object' && address ? address.port : 0)
      })
    })
    await new Promise((resolve) => server.close(resolve))
    const url = new URL(`http://127.0.0.1:${port}/`)
    await expect(outbound.request({ url, signal: never })).rejects.toThrow(failing('outbound.connection'))
  })

  test.each(['/broken-gzip', '/no-gzip', '/unknown-encoding'])('%s cannot be decoded', async (path) => {
    await expect(post(path)).rejects.toThrow(failing('outbound.decode'))
  })

  test.each(['/gzip', '/brotli', '/deflate'])('%s is decoded, though we did not ask for it', async (path) => {
    expect(JSON.parse(await bytes(path))).toMatchObject({ decision: 'block' })
  })

  test('a failure does not spoil the next call', async () => {
    await expect(post('/reset')).rejects.toThrow()
    expect((await post('/allow')).status).toBe(200)
  })
})

describe('redirects', () => {
  test.each(['/redirect-metadata', '/redirect-literal', '/redirect-self', '/redirect-see-other', '/304'])(
    '4.5 #74 %s is not followed',
    async (path) => {
      const before = receiver.received.length
      const { status } = await post(path)
      expect(() => requireSuccess(status, 'host')).toThrow(failing('outbound.redirect'))
      expect(receiver.received).toHaveLength(before + 1)
    },
  )

  test('a status that is no success is named', () => {
    expect(() => requireSuccess(503, 'host')).toThrow(failing('outbound.status'))
    expect(() => requireSuccess(503, 'host')).toThrow('host answered 503')
    expect(() => requireSuccess(204, 'host')).not.toThrow()
  })
})

describe('connections', () => {
  test('4.5 #76 proxies of our environment are ignored', async () => {
    for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'])
      vi.stubEnv(name, 'http://127.0.0.1:1/')
    const direct = createOutbound({ allow: ['127.0.0.1'] })
    const answer = await direct.request({ url: new URL('/allow', receiver.origin), signal: never })
    expect(answer.status).toBe(200)
    await direct.dispose()
  })

  test('are kept and used again, and never more than allowed', async () => {
    const few = createOutbound({ allow: ['127.0.0.1'], connections: 2 })
    const before = receiver.connections()
    const call = () => few.request({ url: new URL('/allow', receiver.origin), body: '{}', signal: never })
    await Promise.all(Array.from({ length: 20 }, call))
    await call()
    expect(receiver.connections() - before).toBeLessThanOrEqual(2)
    await few.dispose()
    await expect(call()).rejects.toThrow(failing('outbound.connection'))
  })

  test('4.11 #156 no message carries the path or the query', async () => {
    const failed = await post('/reset?token=hunter2').catch((error: unknown) => error)
    expect(String(failed)).not.toMatch(/hunter2|reset/)
  })
})
