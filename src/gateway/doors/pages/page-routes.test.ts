import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startGateway } from '../../../../test/gateway/gateway.fixture.ts'
import type { StatusLine } from '../../../methods/status-part.ts'

function uiDirectory(): string {
  const root = mkdtempSync(join(tmpdir(), 'hookhelm-ui-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const ui = join(root, 'ui')
  mkdirSync(join(ui, 'assets'), { recursive: true })
  writeFileSync(join(root, 'secret.js'), 'secret')
  writeFileSync(join(ui, 'index.html'), '<script nonce="__HOOKHELM_NONCE__">1</script>')
  writeFileSync(join(ui, 'assets', 'app.js'), 'app()')
  symlinkSync(join(root, 'secret.js'), join(ui, 'assets', 'link.js'))
  return ui
}

test('whether it is ready is all that is told without a token', async () => {
  let line: StatusLine = { name: 'store', state: 'ok', text: 'fine' }
  const gateway = await startGateway({ status: [() => line] })
  const open = await fetch(`${gateway.url}/healthz`)
  expect([open.status, await open.json()]).toEqual([200, { ready: true }])
  const known = await gateway.get('/healthz')
  expect(await known.json()).toEqual({ ready: true, status: [line] })
  const agent = { authorization: `Bearer ${gateway.store.addToken({ role: 'agent' })}` }
  expect(await (await gateway.get('/healthz', { headers: agent })).json()).toEqual({ ready: true })

  line = { name: 'store', state: 'bad', text: 'gone' }
  const other = await startGateway({ status: [() => line] })
  const bad = await fetch(`${other.url}/healthz`)
  expect([bad.status, await bad.json()]).toEqual([503, { ready: false }])
})

test('a part that cannot say how it is counts as not ready', async () => {
  const { url } = await startGateway({ status: [() => Promise.reject(new Error('x'))] })
  expect((await fetch(`${url}/healthz`)).status).toBe(503)
})

test('without a web interface there is a page that says what there is', async () => {
  const { url } = await startGateway()
  const start = await fetch(url, { redirect: 'manual' })
  expect([start.status, start.headers.get('location')]).toEqual([303, '/ui/'])
  const page = await fetch(`${url}/ui/`)
  expect(await page.text()).toContain('Hookhelm is running')
  expect((await fetch(`${url}/ui/other`)).status).toBe(404)
})

test('a page carries its own nonce in text and policy, and allows nothing inline', async () => {
  const { url } = await startGateway({ ui: uiDirectory() })
  const nonces = new Set<string>()
  for (const path of ['/ui/', '/ui/hooks/42']) {
    const page = await fetch(url + path)
    const policy = page.headers.get('content-security-policy') ?? ''
    const nonce = /'nonce-([\w-]+)'/.exec(policy)?.[1] ?? ''
    expect(await page.text()).toBe(`<script nonce="${nonce}">1</script>`)
    expect(policy).toContain(`script-src 'self' 'nonce-${nonce}'`)
    expect(policy).toContain(`style-src 'self' 'nonce-${nonce}'`)
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    expect(page.headers.get('x-content-type-options')).toBe('nosniff')
    nonces.add(nonce)
  }
  expect(nonces.size).toBe(2)
})

test('files come from the directory alone', async () => {
  const { url } = await startGateway({ ui: uiDirectory() })
  const app = await fetch(`${url}/ui/assets/app.js`)
  expect([await app.text(), app.headers.get('content-type')]).toEqual([
    'app()',
    'text/javascript; charset=utf-8',
  ])
  for (const path of ['assets/link.js', '..%2fsecret.js', 'assets/%2e%2e/%2e%2e/secret.js', 'assets/no.js'])
    expect((await fetch(`${url}/ui/${path}`)).status).toBe(404)
})

test('a file of the build is compressed for those who accept it, and is the same for those who do not', async () => {
  const { url } = await startGateway({ ui: uiDirectory() })
  const read = async (encoding: string) => {
    const answer = await fetch(`${url}/ui/assets/app.js`, { headers: { 'accept-encoding': encoding } })
    return { encoding: answer.headers.get('content-encoding'), text: await answer.text() }
  }
  expect(await read('gzip, br')).toEqual({ encoding: 'gzip', text: 'app()' })
  expect(await read('identity')).toEqual({ encoding: null, text: 'app()' })
})
