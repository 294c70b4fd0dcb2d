import { HookError } from '../../../engine/core/errors/error.ts'
import { redact } from '../../secrets/redact.ts'

/** Why a call was refused; the `reason` of `security.hook.ssrf_block`. */
export type BlockReason =
  | 'url_parse_error'
  | 'non_http_scheme'
  | 'empty_host'
  | 'blocked_ip'
  | 'dns_resolve_failed'
  | 'no_ips_resolved'
  | 'blocked_resolved_ip'

/** Parses a hook's URL with the parser that also dials it, so that both see the same host. Throws `config.url`. */
export function readUrl(text: string, refuse: (reason: BlockReason) => void = () => undefined): URL {
  const fail = (reason: BlockReason, what: string): never => {
    refuse(reason)
    throw new HookError('config.url', what, { at: 'url' })
  }
  const url = URL.parse(text)
  if (url === null) return fail('url_parse_error', 'the URL of a hook must be absolute')
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return fail('non_http_scheme', 'the URL of a hook must start with http:// or https://')
  if (url.hostname === '') return fail('empty_host', 'the URL of a hook has no host')
  if (url.username !== '' || url.password !== '')
    return fail('url_parse_error', 'the URL of a hook must not contain a user name or password')
  url.hash = ''
  return url
}

/** The part of a URL that a log may show: no query, fragment or credentials. */
export function shownUrl(text: string): string {
  const url = URL.parse(text)
  return redact(url ? `${url.protocol}//${url.host}${url.pathname}` : (text.split(/[?#]/, 1)[0] ?? ''))
}
