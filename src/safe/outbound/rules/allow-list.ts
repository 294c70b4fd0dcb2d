import ipaddr from 'ipaddr.js'
import { HookError } from '../../../engine/core/error.ts'
import { type Reach, reachOf } from './address.ts'

/** One address that a host name stands for, and where on it. */
interface Target {
  readonly host: string
  readonly address: string
  readonly port: number
}

export type AllowList = (target: Target) => boolean

type Covers = (target: Target, reach: Reach) => boolean

/**
 * Reads what the operator allows beside public addresses: `10.1.0.0/16`, `127.0.0.1:8080`, `[::1]:8080`,
 * `safety.internal`, `safety.internal:8443`.
 */
export function readAllowList(entries: readonly string[]): AllowList {
  const rules = entries.map(readEntry)
  return (target) => {
    const reach = reachOf(target.address)
    return reach === 'public' || rules.some((covers) => covers(target, reach))
  }
}

/** The same for a list that may change: it is read again when it is another one. */
export function followAllowList(current: () => readonly string[]): AllowList {
  let entries = current()
  let list = readAllowList(entries)
  return (target) => {
    const now = current()
    if (now !== entries) {
      list = readAllowList(now)
      entries = now
    }
    return list(target)
  }
}

function readEntry(entry: string): Covers {
  const { subject, port } = split(entry)
  const covers = readRange(subject) ?? readName(subject)
  if (covers === undefined || (port !== undefined && !(port >= 1 && port <= 65_535)))
    throw new HookError(
      'config.field',
      `${JSON.stringify(entry.slice(0, 80))} is not an address, range or host`,
      {
        at: 'allow',
        hint: 'Write 127.0.0.1:8080, 10.1.0.0/16, [::1]:8080 or a host name.',
      },
    )
  return (target, reach) => (port === undefined || port === target.port) && covers(target, reach)
}

function split(entry: string): { subject: string; port?: number } {
  const bracketed = /^\[([^\]]*)\](?::(\d+))?$/.exec(entry)
  const plain =
    bracketed ?? (ipaddr.IPv6.isValid(entry.split('/')[0] ?? '') ? null : /^([^:]*):(\d+)$/.exec(entry))
  if (plain === null) return { subject: entry }
  const [, subject = '', port] = plain
  return port === undefined ? { subject } : { subject, port: Number(port) }
}

function readRange(subject: string): Covers | undefined {
  const [address = '', bits] = subject.split('/', 2)
  // Only the usual spellings: in this list 10.1 is a mistake, not 10.0.0.1.
  if (!ipaddr.IPv4.isValidFourPartDecimal(address) && !ipaddr.IPv6.isValid(address)) return undefined
  const ip = ipaddr.parse(address)
  const most = ip.kind() === 'ipv4' ? 32 : 128
  const length = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN
  if (!(length >= 0 && length <= most)) return undefined
  return ({ address: dialled }) => {
    const other = ipaddr.process(dialled)
    return other.kind() === ip.kind() && other.match(ip, length)
  }
}

function readName(subject: string): Covers | undefined {
  if (!/^[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9_])?\.?$/i.test(subject) || /^[\d.]+$/.test(subject))
    return undefined
  const name = plainName(subject)
  // Whoever answers for the name in DNS may point it at any inner service, but not at a cloud's credentials.
  return ({ host }, reach) => reach === 'inner' && plainName(host) === name
}

function plainName(host: string): string {
  return host.toLowerCase().replace(/\.$/, '')
}
