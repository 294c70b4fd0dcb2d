import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { launchChromium, prepareChromium } from '../../test/ui/chromium.ts'
import { paced } from '../gateway/paced.ts'
import { copySummaries } from '../gateway/views.ts'

/** A guard against waiting for ever; it measures nothing. */
export const HANG_MS = 120_000
const HOUR = 3_600_000

/** The web app of a gateway in a process of its own, and a browser. */
export interface WebApp {
  readonly url: string
  /** A page of a person who is signed in, with an empty cache. */
  open(): Promise<Page>
  /** Posts tool calls of a session to the dispatch route. Returns how many there were. */
  dispatch(session: string, rate: { perSecond: number; ms: number }): Promise<number>
  /** The ids of the recorded events of a session. */
  recorded(session: string): Promise<readonly string[]>
  /** Adds copies of every recorded event, each time an hour older. */
  copyEvents(copies: number): void
  close(): Promise<void>
}

export async function openWebApp(): Promise<WebApp> {
  prepareChromium()
  const home = mkdtempSync(join(tmpdir(), 'hookhelm-bench-ui-'))
  const server = fileURLToPath(new URL('../gateway/gateway-server.ts', import.meta.url))
  const env = { PATH: process.env.PATH, HOME: home, HOOKHELM_HOME: home }
  const gateway = fork(server, [], { env, execArgv: [] })
  const [{ port, token }] = (await once(gateway, 'message')) as [{ port: number; token: string }]
  const url = `http://127.0.0.1:${port}`
  const browser = await launchChromium()

  return {
    url,
    async open() {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
      context.setDefaultTimeout(HANG_MS)
      const response = await context.request.post(`${url}/login`, {
        data: { token },
        headers: { origin: url },
      })
      if (!response.ok()) throw new Error(await response.text())
      return context.newPage()
    },
    async dispatch(session, rate) {
      const target = { port, path: '/v1/dispatch', token, body: toolCall(session) }
      const { served, refused } = await paced(target, { ...rate, connections: 16 })
      if (refused > 0) throw new Error(`${refused} dispatches were refused`)
      return served
    },
    async recorded(session) {
      const ids: string[] = []
      for (let cursor: string | undefined; cursor !== ''; ) {
        const query = new URLSearchParams({
          session,
          limit: '200',
          ...(cursor === undefined ? {} : { cursor }),
        })
        const headers = { authorization: `Bearer ${token}` }
        const page = (await (await fetch(`${url}/v1/events?${query}`, { headers })).json()) as EventPage
        ids.push(...page.events.map(({ event_id }) => event_id))
        cursor = page.nextCursor
      }
      return ids
    },
    copyEvents(copies) {
      const database = new DatabaseSync(join(home, 'hookhelm.db'), { timeout: HANG_MS })
      database.exec(copySummaries(copies, HOUR))
      database.close()
    },
    async close() {
      await browser.close()
      gateway.send('stop')
      await once(gateway, 'exit')
      rmSync(home, { recursive: true, force: true })
    },
  }
}

interface EventPage {
  readonly events: readonly { readonly event_id: string }[]
  readonly nextCursor: string
}

function toolCall(session: string): string {
  const command = 'npm run build -- --filter=packages/app && git log --oneline -n 20'
  return JSON.stringify({
    event: 'pre_tool_use',
    payload: { tool_name: 'Bash', tool_input: { command, description: 'x'.repeat(200) } },
    envelope: { session, agent: 'claude-code', cwd: '/home/ada/work/shop-api' },
  })
}
