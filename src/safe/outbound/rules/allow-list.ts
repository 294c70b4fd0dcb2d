import ipaddr from 'ipaddr.js'
import { HookError } from '../../../engine/core/errors/error.ts'
import { type Reach, reachOf } from './address.ts'

/** One resolved address of a host. */
interface DialTarget {
  readonly host: string
  readonly address: string
  readonly port: number
}

export type AllowList = (target: DialTarget) => boolean

type AllowRule = (target: DialTarget, reach: Reach) => boolean

/**
 * Parses what the operator allows besides public addresses: `10.1.0.0/16`, `127.0.0.1:8080`, `[::1]:8080`,
 * `safety.internal`, `safety.internal:8443`. Throws `config.field` for any other entry.
 */
export function readAllowList(entries: readonly string[]): AllowList {
  const rules = entries.map(readEntry)
  return (target) => {
    const reach = reachOf(target.address)
    return reach === 'public' || rules.some((covers) => covers(target, reach))
  }
}

/** An allow list that changes: parses it again whenever `current` returns another array. */
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

function readEntry(entry: string): AllowRule {
  const { subject, port } = split(entry)
  const covers = readRange(subject) ?? readName(subject)
  if (covers === undefined || (port !== undefined && !(port >= 1 && port <= 65_535))) {
    const message = `${JSON.stringify(entry.slice(0, 80))} is not an address, range or host`
    const hint = 'Write 127.0.0.1:8080, 10.1.0.0/16, [::1]:8080 or a host name.'
    throw new HookError('config.field', message, { at: 'allow', hint })
  }
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

function readRange(subject: string): AllowRule | undefined {
  const [address = '', bits] = subject.split('/', 2)
  // Only full spellings: 10.1 is more likely a mistake than 10.0.0.1.
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

function readName(subject: string): AllowRule | undefined {
  if (!/^[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9_])?\.?$/i.test(subject) || /^[\d.]+$/.test(subject))
    return undefined
  const name = plainName(subject)
  // DNS may point an allowed name at any inner service, but not at the metadata service of a cloud.
  return ({ host }, reach) => reach === 'inner' && plainName(host) === name
}

function plainName(host: string): string {
  return host.toLowerCase().replace(/\.$/, '')
}
