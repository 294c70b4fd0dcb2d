import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { Running } from '../gateway/running.fixture.ts'
import type { Reachable } from './runs.fixture.ts'

/** A gateway in a process of its own. */
export interface GatewayProcess extends Reachable, Pick<Running, 'call' | 'until'> {
  kill(): Promise<void>
}

/** Starts a gateway that the test may kill; it ends with the test. */
export async function gatewayProcess(home: string, port = '0'): Promise<GatewayProcess> {
  const script = fileURLToPath(new URL('./gateway-child.fixture.ts', import.meta.url))
  const child = spawn(process.execPath, [script, port], {
    env: { PATH: process.env.PATH, HOME: home, HOOKHELM_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(kill)
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  const { url, token }: Reachable = JSON.parse(line)
  const call: Running['call'] = async (verb, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method: verb,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await response.json(), headers: response.headers }
  }
  return { url, token, call, until, kill }
}

const until: Running['until'] = async (ask, isRight) => {
  for (;;) {
    const answer = await ask()
    if (isRight(answer)) return answer
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
