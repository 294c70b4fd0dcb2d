import type { Invocation } from '../evaluate/shell-run.ts'
import { describeField, fieldCertainty, type WordField } from '../expand/shell-text.ts'
import type { Hosts } from '../programs/program.ts'
import { optionValues, type ParsedOptions, sliceField } from './parse-options.ts'
import { type ProgramCall, stated } from './program-call.ts'

/** Records the hosts that a program contacts. */
export function recordHosts(call: ProgramCall): void {
  const hosts = stated(call, 'hosts')
  if (hosts === undefined || hosts.value === 'none') return
  if (typeof hosts.value === 'function') hosts.value(call)
  else recordNamedHosts(call, hosts.value, hosts.level.parsed)
}

function recordNamedHosts(
  call: ProgramCall,
  { operands: kind, options: named = ['--url'], always, on, modules }: Hosts,
  { options, operands }: ParsedOptions,
): void {
  for (const field of optionValues(options, ...named)) addUrl(call, field)
  if (kind !== 'url') for (const arg of call.args) addAddress(call, arg)
  const word = operands[0] ? describeField(operands[0]) : ''
  if (always !== undefined && (on === undefined || on.test(word))) addHost(call, always, 'exact')
  if (modules && /^(?:get|install|run)$/.test(word))
    for (const operand of operands) {
      const host = /^([\w-]+(?:\.[\w-]+)+)\/[^@]/.exec(describeField(operand))?.[1]
      if (host !== undefined) addHost(call, host, 'exact')
    }
  if (kind === 'url') for (const field of operands) addUrl(call, field)
  if (kind === 'copy') for (const field of operands) addCopyHost(call, field)
  // `+short` is an option of dig.
  const [host] = kind === 'host' ? operands.filter((field) => !describeField(field).startsWith('+')) : []
  if (host) addNamedHost(call, host)
}

/** Addresses of files, stores and packages, which name no host. */
const hostless = /^(?:s3|gs|az|abfss?|file|data|docker|oci|npm|jsr|hf|about|chrome|jdbc):/i

/** The host of an argument that is an address: `postgres://host/db`, `--endpoint=https://host`. */
export function addAddress(invocation: Invocation, field: WordField): void {
  const text = describeField(field)
  const start = /^(?:-{1,2}[\w-]+=|-o|-H)?(?=[a-z][a-z0-9+.-]*:\/\/[^/$\s])/i.exec(text)?.[0]
  if (start === undefined || hostless.test(text.slice(start.length)) || fieldCertainty(field) === 'unknown')
    return
  addUrl(invocation, sliceField(field, start.length))
}

export function addHost(
  { program, frame, at }: Invocation,
  host: string,
  certainty: 'exact' | 'unknown',
): void {
  frame.run.record.addHost({ host: host.toLowerCase().replace(/\.$/, ''), certainty, by: program, at })
}

/** The host of an address, as a browser reads it. */
export function addUrl(invocation: Invocation, field: WordField): void {
  const text = describeField(field)
  const host = URL.parse(text.includes('://') ? text : `http://${text}`)?.hostname
  // The start of an address may be known although its end is not.
  const start = typeof field[0]?.value === 'string' ? field[0].value : ''
  const known = /^(?:\w+:\/\/)?([\w.-]+)(?::\d+)?(?=[/?#])/.exec(
    start.includes('://') ? start : start.replace(/^\w+:\/?$/, ''),
  )?.[1]
  if (fieldCertainty(field) !== 'unknown') addHost(invocation, host ?? text, 'exact')
  else addHost(invocation, known ?? text, known === undefined ? 'unknown' : 'exact')
}

function addNamedHost(invocation: Invocation, field: WordField): void {
  const text = describeField(field)
  const host = text.includes('://')
    ? (URL.parse(text)?.hostname ?? text)
    : text.slice(text.lastIndexOf('@') + 1)
  addHost(invocation, host, fieldCertainty(field) === 'unknown' ? 'unknown' : 'exact')
}

/** `user@host:path`, or an address. */
export function addCopyHost(invocation: Invocation, field: WordField): void {
  const text = describeField(field)
  if (/^\w+:\/\//.test(text)) return addUrl(invocation, field)
  const host = /^(?:[^@/:]+@)?([^/:@]+):/.exec(text)?.[1]
  if (host !== undefined) addHost(invocation, host, fieldCertainty(field) === 'unknown' ? 'unknown' : 'exact')
}
