import { compileGlob } from '../glob.ts'

/** A test of a host: the host itself and all hosts below it. */
export function compileHost(written: string, at: string): (host: string | undefined) => boolean {
  const domain = hostOf(written) ?? written.toLowerCase()
  const exact = compileGlob(domain, { at, classes: false })
  const below = compileGlob(`*.${domain}`, { at, classes: false })
  return (host) => host !== undefined && (exact(host) || below(host))
}

/** Parses the host as a browser does, so that user info, case or a final dot cannot hide it. */
export function hostOf(text: string): string | undefined {
  const url = URL.parse(text.includes('://') ? text : `https://${text}`)
  return url?.hostname.replace(/\.$/, '')
}
