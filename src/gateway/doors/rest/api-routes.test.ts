import { expect, test } from 'vitest'
import { startGateway } from '../../../../test/gateway/gateway.fixture.ts'

test('a method is called by its route: path and query are read as its parameters expect them', async () => {
  const { get } = await startGateway()
  const response = await get('/v1/things/a%2Fb?count=12&wanted=false&tags=x&tags=y,z')
  expect(response.status).toBe(200)
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(await response.json()).toMatchObject({
    params: { thingId: 'a/b', count: 12, wanted: false, tags: ['x', 'y', 'z'] },
  })
})

test.each([
  ['/v1/things/1?cuont=1', 'cuont', 'Did you mean count?'],
  ['/v1/things/1?count=many', 'count', undefined],
  ['/v1/things/1?count=1&count=2', 'count', undefined],
  ['/v1/things/1?thingId=2', 'thingId', undefined],
])('%s is refused with the place', async (path, at, hint) => {
  const { get } = await startGateway()
  const response = await get(path)
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({
    error: { code: 'INVALID_REQUEST', details: { code: 'gateway.request', at, ...(hint && { hint }) } },
  })
})

test('a body is joined with the path, and must agree with it', async () => {
  const { get } = await startGateway()
  const patch = (body: string, type = 'application/json') =>
    get('/v1/things/1', { method: 'PATCH', body, headers: { 'content-type': type } })
  expect(await (await patch('{"name":"n"}')).json()).toEqual({ params: { thingId: '1', name: 'n' } })
  expect((await patch('{"name":"n","thingId":"2"}')).status).toBe(400)
  expect((await patch('[]')).status).toBe(400)
  expect((await patch('{')).status).toBe(400)
  expect((await patch('{"name":"n"}', 'text/plain')).status).toBe(415)
  expect((await patch('x'.repeat(1_048_577))).status).toBe(413)
})

test('4.10 #143 GC-109 a role that does not reach is told which one does, before its parameters are looked at', async () => {
  const { get, store } = await startGateway()
  const as = async (role: 'agent' | 'viewer' | 'operator' | 'admin') => {
    const headers = {
      authorization: `Bearer ${store.addToken({ role })}`,
      'content-type': 'application/json',
    }
    const response = await get('/v1/things/1', { method: 'PATCH', body: '{"wrong":1}', headers })
    return { status: response.status, body: await response.json() }
  }
  for (const role of ['agent', 'viewer', 'operator'] as const) {
    expect(await as(role)).toMatchObject({
      status: 403,
      body: { error: { code: 'UNAUTHORIZED', details: { code: 'auth.scope' } } },
    })
  }
  expect(await as('admin')).toMatchObject({ status: 400 })
  const agent = { authorization: `Bearer ${store.addToken({ role: 'agent' })}` }
  expect((await get('/v1/things/1', { headers: agent })).status).toBe(403)
})

test('every method is also called by its name, as the client does', async () => {
  const { get } = await startGateway()
  const call = (name: string, body: string) =>
    get(`/v1/call/${name}`, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
  expect(await (await call('things.echo', '{"thingId":"7"}')).json()).toMatchObject({
    params: { thingId: '7' },
  })
  expect(await (await call('things.ehco', '{}')).json()).toMatchObject({
    error: { details: { code: 'gateway.request', hint: 'Did you mean things.echo?' } },
  })
})

test('the document describes every route and needs a token', async () => {
  const { get, url } = await startGateway()
  expect((await fetch(`${url}/v1/openapi.json`)).status).toBe(401)
  const document = await (await get('/v1/openapi.json')).json()
  expect(document).toMatchObject({
    openapi: '3.1.0',
    paths: {
      '/v1/dispatch': { post: { operationId: 'dispatch' } },
      '/v1/things/{thingId}': {
        get: {
          operationId: 'things.echo',
          parameters: [
            { name: 'thingId', in: 'path', required: true },
            { name: 'count', in: 'query', required: false, schema: { type: 'number' } },
            { name: 'wanted', in: 'query' },
            { name: 'tags', in: 'query' },
          ],
        },
        patch: { requestBody: { content: { 'application/json': { schema: { required: ['name'] } } } } },
      },
    },
  })
  expect(JSON.stringify(document)).not.toContain('#/$defs')
})

test('there is nothing at other addresses', async () => {
  const { get } = await startGateway()
  for (const path of ['/v2/x', '/v1/dispatch', '/v1/things']) {
    const response = await get(path)
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({
      error: { code: 'NOT_FOUND', details: { code: 'gateway.not_found' } },
    })
  }
})
