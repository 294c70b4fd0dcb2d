import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { as, tokenFor } from '../gateway/doors.fixture.ts'
import { running, shared } from '../gateway/running.fixture.ts'
import { localRunner, runsOf, untilEnded } from '../runs/runs.fixture.ts'

const HANG = 120_000
const roles = ['agent', 'viewer', 'approver', 'operator', 'admin', 'owner'] as const
const gateway = shared(() => ({ edition: 'standard', runs: { pollMs: 300 } }))
/** Tokens of a tenant, one per role. */
const tokens = new Map<string, string>()
const asRole = (role: string) => as(tokens.get(role) ?? '')

beforeAll(async () => {
  await gateway().call('POST', '/v1/tenants', { name: 'acme' })
  for (const role of roles) tokens.set(role, (await tokenFor(gateway(), { role, name: role }, 'acme')).token)
})

const smtp = { host: 'mail.test', from: 'hookhelm@mail.test', user: 'mailer', password: 'correct-horse' }
const chat = { name: 'ops', to: { type: 'slack', url: 'https://chat.test/hooks/T0K3N' } }
const signed = {
  ...{ name: 'program' },
  to: { type: 'webhook', url: 'https://hook.test/in?key=K3Y', secret: 'whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQ=' },
}
const secrets = ['correct-horse', 'T0K3N', 'K3Y', 'whsec_c2Vj']
const setAll = (settings: object) => gateway().call('PATCH', '/v1/settings', { settings, scope: 'gateway' })
const setOwn = (settings: object, role = 'admin') =>
  gateway().call('PATCH', '/v1/settings', { settings }, asRole(role))
const getAs = async (headers = {}) => (await gateway().call('GET', '/v1/settings', undefined, headers)).body

describe('the secrets of settings', () => {
  beforeAll(async () => {
    const { status, body } = await setAll({ smtp, approval_routes: [chat, signed] })
    expect([status, JSON.stringify(body)]).toEqual([200, expect.not.stringMatching(secrets.join('|'))])
  })

  test('are shown to nobody through any door, and those of the gateway not even masked to a tenant', async () => {
    for (const role of [...roles, 'master']) {
      const headers = role === 'master' ? {} : asRole(role)
      const answers = [
        await gateway().call('GET', '/v1/settings', undefined, headers),
        await gateway().call('POST', '/v1/call/settings.get', {}, headers),
        await gateway().call('POST', '/v1/call/settings.set', { settings: {} }, headers),
      ]
      for (const { body } of answers) expect(JSON.stringify(body)).not.toMatch(secrets.join('|'))
      const reaches = role === 'admin' || role === 'owner' || role === 'master'
      const shown = answers.map(({ body }) => Object.keys(body.settings ?? {}).includes('smtp'))
      expect([role, shown]).toEqual([role, Array(3).fill(role === 'master')])
      expect(answers.map(({ status }) => status)).toEqual(Array(3).fill(reaches ? 200 : 403))
    }
    expect((await getAs()).settings.smtp.value).toEqual({ ...smtp, password: '********' })
  })

  test('do not lie in the files of the database', () => {
    const files = readdirSync(gateway().home).filter((name) => name.startsWith('hookhelm.db'))
    for (const file of files) {
      const text = readFileSync(join(gateway().home, file), 'latin1')
      expect([file, secrets.filter((secret) => text.includes(secret))]).toEqual([file, []])
    }
  })

  test('stay as they are when a reader sends back what it was shown, and follow no other address', async () => {
    const { settings } = await getAs()
    const { value: routes } = settings.approval_routes
    expect((await setAll({ approval_routes: routes, smtp: settings.smtp.value })).status).toBe(200)
    expect((await getAs()).settings.approval_routes.value).toEqual(routes)
    const elsewhere = [
      { smtp: { ...settings.smtp.value, host: 'evil.test' } },
      { smtp: { ...settings.smtp.value, user: 'other' } },
      { approval_routes: [{ ...routes[1], to: { ...routes[1].to, url: 'https://evil.test' } }] },
      { approval_routes: [{ ...routes[0], name: 'another' }] },
    ]
    for (const given of elsewhere)
      expect(await setAll(given)).toMatchObject({
        status: 400,
        body: { error: { message: expect.stringContaining('must be given again') } },
      })
    // A tenant cannot take over what the gateway has under the same name.
    expect((await setOwn({ approval_routes: routes })).status).toBe(400)
  })
})

describe('a policy of the gateway', () => {
  test('can be made stricter by a tenant, not looser', async () => {
    const strict = { approval_links: 'sign_in', own_approvals: false, allow_remote_sessions: false }
    await setAll({ ...strict, approval_budget: { per_session: 10, per_agent: 50 } })
    const loose = { approval_links: 'open', own_approvals: true, allow_remote_sessions: true }
    await setOwn({ ...loose, approval_budget: { per_session: 1_000, per_tenant: 7 } }, 'owner')
    const inForce = (await getAs(asRole('admin'))).settings
    for (const [name, value] of Object.entries(strict))
      expect([name, inForce[name]]).toEqual([name, { value, from: 'gateway' }])
    expect(inForce.approval_budget.value).toEqual({ per_session: 10, per_agent: 50, per_tenant: 7 })
    await setOwn({ approval_budget: { per_session: 3 } })
    expect((await getAs(asRole('admin'))).settings.approval_budget.value).toEqual({
      ...{ per_session: 3, per_agent: 50 },
    })
    const none = { approval_links: null, own_approvals: null, allow_remote_sessions: null }
    await setAll({ ...none, approval_budget: null })
    expect((await getAs(asRole('admin'))).settings).toMatchObject({ own_approvals: { value: true } })
  })

  test('about folders, mail and addresses is not for a tenant to set', async () => {
    for (const settings of [
      { run_folders: ['/'] },
      { smtp },
      { public_url: 'https://evil.test' },
      { allowed_hosts: ['169.254.169.254'] },
    ])
      expect([settings, (await setOwn(settings, 'owner')).status]).toEqual([settings, 403])
  })
})

describe('a run', () => {
  test(
    'of an operator starts in no folder that nobody listed',
    async () => {
      const lite = await running()
      await localRunner(lite)
      const inside = realpathSync(mkdtempSync(join(tmpdir(), 'hookhelm-power-')))
      onTestFinished(() => rmSync(inside, { recursive: true, force: true }))
      symlinkSync('/etc', join(inside, 'etc'))
      await runsOf(lite).agent('where', 'return { cwd: process.cwd() }')
      const { token } = await tokenFor(lite, { role: 'operator', name: 'op' })
      const start = async (project_dir: string) => {
        const given = { agent_name: 'where', parameters: {}, project_dir }
        const { body } = await lite.call('POST', '/runs', given, as(token))
        const { status, error, session_id } = await untilEnded(lite, body.run_id)
        return { status, error, session_id }
      }
      const outside = ['/etc', '/', `${inside}/etc`, `${inside}/../../etc`, 'etc', '/usr']
      for (const folder of outside)
        expect([folder, await start(folder)]).toMatchObject([
          folder,
          { status: 'failed', error: expect.stringContaining('not one of the folders') },
        ])
      const { status, session_id } = await start(inside)
      expect([status, (await runsOf(lite).result(session_id)).result_data]).toEqual([
        'completed',
        { cwd: inside },
      ])
    },
    HANG,
  )

  test('is claimed by GET with a token, never by the cookie of a browser', async () => {
    const { ok } = runsOf(gateway())
    const offer = { hostname: 'h', project_dir: '', executor_profile: 'p' }
    const { runner_id } = await ok('POST', '/runner/register', offer)
    await ok('POST', '/agents', { name: 'worker', type: 'procedural', executor: { profile: 'p' } })
    const { run_id } = await ok('POST', '/runs', { agent_name: 'worker', parameters: {} })
    const login = await gateway().call(
      'POST',
      '/login',
      { token: gateway().token },
      { origin: gateway().url },
    )
    const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''
    const path = `/runner/runs?runner_id=${runner_id}`
    for (const method of ['GET', 'HEAD'])
      for (const origin of [{}, { origin: gateway().url }, { referer: 'https://evil.test/' }]) {
        const headers: Record<string, string> = { cookie, ...origin }
        const { status } = await fetch(`${gateway().url}${path}`, { method, headers })
        expect([method, origin, status]).toEqual([method, origin, 403])
      }
    expect((await fetch(`${gateway().url}/runners`, { headers: { cookie } })).status).toBe(200)
    expect((await ok('GET', path)).run.run_id).toBe(run_id)
  })
})
