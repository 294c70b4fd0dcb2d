import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

export interface Certificate {
  readonly cert: string
  readonly key: string
}

interface CertificateOptions {
  /** Host names the certificate is for. */
  readonly names: readonly string[]
  readonly from?: Date
  readonly until?: Date
}

/** Creates a self-signed certificate in code, so that tests need no program and the repository holds no key. */
export function makeCertificate({ names, from = day(-1), until = day(30) }: CertificateOptions): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = sequence(oid([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]))
  const name = sequence(der(0x31, sequence(oid([0x55, 0x04, 0x03]), der(0x0c, Buffer.from(names[0] ?? '')))))
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    algorithm,
    name,
    sequence(time(from), time(until)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(isAuthority(), forNames(names))),
  )
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]))
  return { cert: pem(sequence(body, algorithm, signature)), key: exported(privateKey) }
}

export function day(fromToday: number): Date {
  return new Date(Date.now() + fromToday * 86_400_000)
}

function isAuthority(): Buffer {
  return sequence(oid([0x55, 0x1d, 0x13]), der(0x04, sequence(der(0x01, Buffer.from([0xff])))))
}

function forNames(names: readonly string[]): Buffer {
  const list = sequence(...names.map((name) => der(0x82, Buffer.from(name))))
  return sequence(oid([0x55, 0x1d, 0x11]), der(0x04, list))
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts))
}

function oid(bytes: readonly number[]): Buffer {
  return der(0x06, Buffer.from(bytes))
}

function time(date: Date): Buffer {
  return der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]|\..*/g, '')}Z`))
}

function pem(certificate: Buffer): string {
  const lines = certificate
    .toString('base64')
    .match(/.{1,64}/g)
    ?.join('\n')
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}

function exported(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}
