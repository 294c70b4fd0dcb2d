const NAME = 'hookhelm_session'

/** The secret of the session, or nothing that would open one. */
export function readCookie(header: string): string {
  for (const pair of header.split(';')) {
    const [name, value] = pair.split('=', 2)
    if (name?.trim() === NAME) return value?.trim() ?? ''
  }
  return ''
}

export interface CookieOptions {
  /** Over the network only by https; on loopback there is none to be had. */
  readonly secure: boolean
  readonly maxAgeMs: number
}

export function writeCookie(secret: string, { secure, maxAgeMs }: CookieOptions): string {
  const age = Math.floor(maxAgeMs / 1_000)
  return `${NAME}=${secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${age}${secure ? '; Secure' : ''}`
}
