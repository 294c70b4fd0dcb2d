import { isDeepStrictEqual } from 'node:util'
import { serverError } from '../engine/core/errors/server-errors.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import { secretName } from '../safe/secrets/secret.ts'
import { MASK } from '../secrets/config-secrets.ts'

type Fields = Readonly<Record<string, unknown>>

/** The settings as people may read them: passwords, signing keys and addresses of webhooks are write-only. */
export function maskSettings(settings: Fields): Fields {
  const { smtp, approval_routes: routes } = settings
  return {
    ...settings,
    ...(isRecord(smtp) ? { smtp: hide(smtp, ['password']) } : {}),
    ...(Array.isArray(routes) ? { approval_routes: routes.map(maskRoute) } : {}),
  }
}

function maskRoute(route: unknown): unknown {
  return isRecord(route) && isRecord(route.to) ? { ...route, to: hide(route.to, ['url', 'secret']) } : route
}

/** The name of a secret is not one. */
function hide(fields: Fields, names: readonly string[]): Fields {
  const hidden = names.filter(
    (name) => typeof fields[name] === 'string' && secretName(fields[name]) === undefined,
  )
  return { ...fields, ...Object.fromEntries(hidden.map((name) => [name, MASK])) }
}

/** The settings with the stored value in place of every mask. Throws `gateway.setting` where nothing is stored. */
export function unmaskSettings(given: Fields, stored: Fields): Fields {
  const { smtp, approval_routes: routes } = given
  return {
    ...given,
    ...(isRecord(smtp) ? { smtp: unmaskServer(smtp, stored.smtp) } : {}),
    ...(Array.isArray(routes)
      ? { approval_routes: routes.map((route) => unmaskRoute(route, stored.approval_routes)) }
      : {}),
  }
}

/** A password must not be sent to another server than the one that it was given for. */
function unmaskServer(smtp: Fields, stored: unknown): Fields {
  if (smtp.password !== MASK) return smtp
  const known = isRecord(stored) ? stored : {}
  const isSame = (['host', 'port', 'user', 'secure'] as const).every((name) => smtp[name] === known[name])
  if (known.password === undefined || !isSame) throw givenAgain('smtp.password', 'the server')
  return { ...smtp, password: known.password }
}

function unmaskRoute(route: unknown, stored: unknown): unknown {
  if (!isRecord(route) || !isRecord(route.to)) return route
  const { name, to } = route
  if (to.url !== MASK && to.secret !== MASK) return route
  const routes: readonly unknown[] = Array.isArray(stored) ? stored : []
  const before = routes.filter(isRecord).find((each) => isDeepStrictEqual(each.name, name))?.to
  const known = isRecord(before) && before.type === to.type ? before : {}
  const url = to.url === MASK ? known.url : to.url
  if (url === undefined) throw givenAgain(`the address of the route ${String(name)}`, 'its name or kind')
  if (to.secret !== MASK) return { ...route, to: { ...to, url } }
  if (known.secret === undefined || url !== known.url)
    throw givenAgain(`the secret of the route ${String(name)}`, 'its address')
  return { ...route, to: { ...to, url, secret: known.secret } }
}

function givenAgain(what: string, when: string): Error {
  return serverError('gateway.setting', `${what} is hidden, and must be given again when ${when} changes`)
}
