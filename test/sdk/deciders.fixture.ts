import { onTestFinished } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import type { Running } from '../gateway/running.fixture.ts'

/** A client of a gateway that runs. */
export function clientOf({ url, token }: Pick<Running, 'url' | 'token'>) {
  const client = createClient({ url, token })
  onTestFinished(() => client.close())
  return client
}

/** A client of a gateway that is not there. */
export function clientOfNobody() {
  const client = createClient({ url: 'http://127.0.0.1:1', token: 'x' })
  onTestFinished(() => client.close())
  return client
}

/** A hook of a gateway that decides by script. */
export function scriptHook(event: string, matcher: string, body: string) {
  return { event, handler_type: 'script', matcher, config: { source: `function handle(e) { ${body} }` } }
}
