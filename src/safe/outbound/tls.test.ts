import { createServer } from 'node:https'
import { afterEach, expect, test } from 'vitest'
import { type Certificate, day, makeCertificate } from '../../../test/safe/certificate.fixture.ts'
import { badReceiver } from '../../testing/bad-receiver.ts'
import { createOutbound } from './outbound.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** Calls https://receiver.test, which has this certificate, and trusts it if told so. */
async function call(certificate: Certificate, { trusted = false, scheme = 'https' } = {}): Promise<number> {
  const receiver = await badReceiver(createServer({ cert: certificate.cert, key: certificate.key }))
  const outbound = createOutbound({
    allow: ['receiver.test'],
    dns: async () => ['127.0.0.1'],
    ...(trusted ? { ca: [certificate.cert] } : {}),
  })
  closing.push(outbound.dispose, receiver.close)
  const url = new URL(`${scheme}://receiver.test:${receiver.port}/allow`)
  const { status } = await outbound.request({ url, body: '{}', signal: AbortSignal.timeout(60_000) })
  return status
}

const names = ['receiver.test']
const failing = (code: string) => expect.objectContaining({ name: 'HookError', code })

test('a certificate of an authority that is given in ca is trusted', async () => {
  expect(await call(makeCertificate({ names }), { trusted: true })).toBe(200)
})

test('4.5 #80 a self-signed certificate is not', async () => {
  await expect(call(makeCertificate({ names }))).rejects.toThrow(failing('outbound.tls'))
})

test('4.5 #80 nor one that is over, or not yet begun', async () => {
  const over = makeCertificate({ names, from: day(-9), until: day(-1) })
  await expect(call(over, { trusted: true })).rejects.toThrow(failing('outbound.tls'))
  const early = makeCertificate({ names, from: day(1), until: day(9) })
  await expect(call(early, { trusted: true })).rejects.toThrow(failing('outbound.tls'))
})

test('4.5 #80 nor one for another name', async () => {
  const other = makeCertificate({ names: ['other.test'] })
  await expect(call(other, { trusted: true })).rejects.toThrow(failing('outbound.tls'))
})

test('4.5 #80 speaking http to it is a broken connection', async () => {
  await expect(call(makeCertificate({ names }), { scheme: 'http' })).rejects.toThrow(
    failing('outbound.connection'),
  )
})

test('4.5 #80 speaking https to a server without it', async () => {
  const receiver = await badReceiver()
  const outbound = createOutbound({ allow: ['127.0.0.1'] })
  closing.push(outbound.dispose, receiver.close)
  const url = new URL(`https://127.0.0.1:${receiver.port}/allow`)
  await expect(outbound.request({ url, signal: AbortSignal.timeout(60_000) })).rejects.toThrow(
    failing('outbound.tls'),
  )
})
