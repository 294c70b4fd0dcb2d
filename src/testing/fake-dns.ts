import { createSocket, type RemoteInfo } from 'node:dgram'
import { isIPv4, isIPv6 } from 'node:net'

/** Host name → addresses for the first, second, … query; the last entry repeats. Other names do not exist. */
export type DnsScript = Readonly<Record<string, readonly (readonly string[])[]>>

/** A running fake name server. */
export interface FakeDns {
  /** `127.0.0.1:port`, for `resolver.setServers`. */
  readonly server: string
  /** Every query, in order: `A safety.example`. */
  readonly asked: readonly string[]
  close(): Promise<void>
}

const A = 1
const AAAA = 28
const HEADER = 12

/** Starts a name server on the loopback interface that answers as scripted, with a time to live of zero. */
export async function startFakeDns(script: DnsScript): Promise<FakeDns> {
  const socket = createSocket('udp4')
  const asked: string[] = []
  socket.on('message', (query: Buffer, from: RemoteInfo) => {
    const { name, type, end } = readQuestion(query)
    const question = `${type === AAAA ? 'AAAA' : type === A ? 'A' : type} ${name}`
    const turn = asked.filter((one) => one === question).length
    asked.push(question)
    const answers = Object.hasOwn(script, name) ? script[name] : undefined
    const addresses = answers?.[Math.min(turn, answers.length - 1)]
    socket.send(reply(query, end, addresses && records(type, addresses)), from.port, from.address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return {
    server: `127.0.0.1:${socket.address().port}`,
    asked,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  }
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = HEADER
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function records(type: number, addresses: readonly string[]): Buffer[] {
  if (type === A)
    return addresses.filter(isIPv4).map((address) => record(A, Buffer.from(address.split('.').map(Number))))
  if (type === AAAA) return addresses.filter(isIPv6).map((address) => record(AAAA, ipv6Bytes(address)))
  return []
}

function record(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(HEADER)
  // A pointer to the name in the question, which follows the header.
  head.writeUInt16BE(0xc000 | HEADER, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt32BE(0, 6)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}

/** An empty list means that the name has no records of that type; undefined means that the name does not exist. */
function reply(query: Buffer, end: number, answers: readonly Buffer[] | undefined): Buffer {
  const head = Buffer.alloc(HEADER)
  query.copy(head, 0, 0, 2)
  head.writeUInt16BE(answers === undefined ? 0x8183 : 0x8180, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(answers?.length ?? 0, 6)
  return Buffer.concat([head, query.subarray(HEADER, end), ...(answers ?? [])])
}

function ipv6Bytes(address: string): Buffer {
  // The URL parser normalizes every spelling to hexadecimal groups.
  const short = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = '', tail] = short.split('::', 2)
  const groups = (part: string) => (part === '' ? [] : part.split(':'))
  const [front, back] = [groups(head), groups(tail ?? '')]
  const filled = [...front, ...Array<string>(8 - front.length - back.length).fill('0'), ...back]
  return Buffer.from(
    filled.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]),
  )
}
