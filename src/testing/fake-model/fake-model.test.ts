import { describe, expect, onTestFinished, test } from 'vitest'
import { type FakeModelOptions, startFakeModel } from './fake-model.ts'

async function running(script: FakeModelOptions['script']) {
  const fake = await startFakeModel({ script })
  onTestFinished(() => fake.close())
  const post = (path: string, body: unknown) =>
    fetch(path, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) })
  return { fake, post }
}

describe('a fake model', () => {
  test('plays its script in order, and then its last line', async () => {
    const { fake, post } = await running([{ text: 'one' }, { text: 'two' }])
    const texts: unknown[] = []
    for (let n = 0; n < 3; n++) {
      const answer = await post(`${fake.url('anthropic')}/messages`, { model: 'm', messages: [] })
      texts.push(await answer.json())
    }
    expect(texts).toMatchObject([
      { content: [{ text: 'one' }], usage: { input_tokens: 100, output_tokens: 20 } },
      { content: [{ text: 'two' }] },
      { content: [{ text: 'two' }] },
    ])
  })

  test('remembers what it was asked, format by format', async () => {
    const { fake, post } = await running([{}])
    const messages = [
      { role: 'system', content: 'be good' },
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
    ]
    await post(`${fake.url('openai')}/chat/completions`, { model: 'a', messages, temperature: 1 })
    await post(`${fake.url('openai')}/responses`, { model: 'b', instructions: 'be', input: messages })
    await post(`${fake.url('google')}/models/c:generateContent`, {
      systemInstruction: { parts: [{ text: 'be good' }] },
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    })
    expect(fake.requests).toMatchObject([
      { provider: 'openai', model: 'a', system: 'be good', user: 'hi', temperature: 1, tools: [] },
      { provider: 'openai', model: 'b', system: 'be\nbe good', user: 'hi' },
      { provider: 'google', model: 'c', system: 'be good', user: 'hi' },
    ])
    expect(await fake.requests[0]?.ended).toBe('answered')
  })

  test('decides by what it was asked, and fails in the words of the format', async () => {
    const { fake, post } = await running(({ user }) => (user === 'hi' ? { text: 'hello' } : { status: 529 }))
    const ask = (content: string) =>
      post(`${fake.url('anthropic')}/messages`, { messages: [{ role: 'user', content }] })
    expect((await ask('hi')).status).toBe(200)
    const busy = await ask('what?')
    expect(busy.status).toBe(529)
    expect(await busy.json()).toMatchObject({ type: 'error', error: { type: 'overloaded_error' } })
  })

  test('knows nothing else', async () => {
    const { fake, post } = await running([{}])
    expect((await post(`${fake.url('openai')}/embeddings`, {})).status).toBe(404)
    expect((await post(`${fake.url('openai')}/responses`, 'no JSON')).status).toBe(404)
    expect(fake.requests).toEqual([])
  })
})
