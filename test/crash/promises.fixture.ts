import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { expect } from 'vitest'
import type { ChildGateway, Death, Reply } from './child-gateway.fixture.ts'

/**
 * With the default audit, a dispatch may lack its record only if it was answered this shortly before the kill. Time in which
 * the machine did not run the gateway does not count.
 */
const LOSS_MS = 20
/** A request that fails while one gateway is killed and the next one starts counts as unanswered. */
type Outcome = Reply | undefined

interface Hook {
  readonly description: string
  readonly enabled: boolean
}

type Row = Readonly<Record<string, unknown>>

/** The tags of the events for which webhooks arrived. */
export interface Receiver {
  readonly url: string
  readonly seen: ReadonlyMap<string, number>
  close(): Promise<void>
}

export async function receiver(): Promise<Receiver> {
  const seen = new Map<string, number>()
  const server: Server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const [tag = ''] = /tag-[\w-]+/.exec(body) ?? []
      seen.set(tag, (seen.get(tag) ?? 0) + 1)
      response.end('{}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    seen,
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`,
    async close() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

/** Sends all kinds of requests, keeps what their answers acknowledge, and checks that it is stored. */
export class Promises {
  readonly #receiver: Receiver
  #gateway: ChildGateway
  #stopped = true
  #running: Promise<unknown> = Promise.resolve()
  #observer = ''
  /** Since the last check. Event id → when it was answered. */
  #gates = new Map<string, number>()
  #strict = new Map<string, number>()
  /** Tag → event id, of every acknowledged event. */
  readonly #observed = new Map<string, string>()
  /** Answers by key. */
  readonly #kept = new Map<string, unknown>()
  /** The last acknowledged value; undefined for a deleted hook. */
  readonly #hooks = new Map<string, Hook | undefined>()
  /** Changes without an answer, which may or may not be stored. */
  readonly #unsure = new Map<string, Hook | undefined>()
  readonly counted = {
    answers: 0,
    refused: 0,
    lacking: 0,
    beyond: 0,
    beyondForWrites: 0,
    oldest: 0,
    oldestOwn: 0,
  }

  constructor(gateway: ChildGateway, to: Receiver) {
    this.#gateway = gateway
    this.#receiver = to
  }

  /** Resolves when an event that is observed was acknowledged: on a busy machine early kills may come before the first. */
  async untilObserved(): Promise<void> {
    await expect.poll(() => this.#observed.size).toBeGreaterThan(0)
  }

  /** Creates the hooks that the requests pass. */
  async prepare(): Promise<void> {
    const make = async (definition: Row, tenant?: string) => {
      const usual = { event: 'pre_tool_use', handler_type: 'function', scope: 'tenant' }
      return granted(await this.#gateway.call('POST', '/v1/hooks', { ...usual, ...definition }, tenant))
        .hookId
    }
    granted(await this.#gateway.call('POST', '/v1/tenants', { name: 'careful' }))
    const strict = { settings: { audit: 'strict' } }
    granted(await this.#gateway.call('PATCH', '/v1/settings', strict, 'careful'))
    for (const tenant of [undefined, 'careful'])
      await make({ matcher: '^Read$', config: { name: 'pass' } }, tenant)
    await make({ matcher: '^Once$', config: { name: 'nonce' } })
    await make({ matcher: '^Bash$', config: { name: 'stop' } })
    const config = { url: this.#receiver.url }
    this.#observer = await make({ event: 'session_end', handler_type: 'http', config })
  }

  /** Sends requests until `stop`, even while no gateway answers. */
  start(gateway: ChildGateway): void {
    this.#gateway = gateway
    this.#stopped = false
    const loops = [
      ...Array.from({ length: 4 }, () => this.#gate()),
      this.#careful(),
      this.#observe(),
      this.#change(),
      this.#repeat(),
    ]
    this.#running = Promise.all(loops)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running
  }

  /** Checks everything acknowledged so far. A kill excuses what was answered right before it. */
  async look(gateway: ChildGateway, death?: Death): Promise<void> {
    this.#gateway = gateway
    // The history waits only briefly for the latest records; this waits for all of them.
    const verdict = await gateway.call('POST', '/v1/audit/verify', {})
    expect(verdict.body).toMatchObject({ ok: true })
    await this.#lookAtGates(death)
    await this.#lookAtHooks()
    for (const [key, answer] of [...this.#kept].slice(-40)) {
      const again = await gateway.call('POST', '/v1/dispatch', keyed(key))
      expect(again.body, 'the same key has the same answer').toEqual(answer)
    }
  }

  /** Checks deliveries once none is waiting or running. */
  async lookAtDeliveries(): Promise<void> {
    const waiting = async () => granted(await this.#gateway.call('GET', '/v1/deliveries')).deliveries.length
    await expect.poll(waiting, { interval: 50 }).toBe(0)
    const rows = await this.#history({ hookId: this.#observer })
    for (const [tag, id] of this.#observed) {
      expect(this.#receiver.seen.get(tag) ?? 0, `${tag} is delivered`).toBeGreaterThan(0)
      expect(rows.get(id)?.length ?? 0, `the delivery of ${tag} is recorded`).toBeGreaterThan(0)
      expect((await this.#gateway.call('GET', `/v1/events/${id}`)).status, 'and the event').toBe(200)
    }
    expect(this.#observed.size).toBeGreaterThan(0)
  }

  async #lookAtGates(death: Death | undefined): Promise<void> {
    const [gates, strict] = [this.#gates, this.#strict]
    this.#gates = new Map()
    this.#strict = new Map()
    const found = await this.#history({}, gates.size * 2 + 2_000)
    for (const [id, at] of gates) if (!found.has(id)) this.#excuse(id, at, death)
    const careful = await this.#history({}, strict.size * 2 + 2_000, 'careful')
    for (const id of strict.keys()) {
      expect(careful.has(id), `${id}, of a strict audit, has its record`).toBe(true)
      expect((await this.#gateway.call('GET', `/v1/events/${id}`, undefined, 'careful')).status).toBe(200)
    }
  }

  #excuse(id: string, at: number, death: Death | undefined): void {
    const { counted } = this
    if (death === undefined) throw new Error(`${id} has no record, and nobody was killed`)
    const age = death.at - at
    const own = age - death.withheld.byBoth(at)
    expect(own, `${id} has no record, answered ${age.toFixed(1)} ms before the kill`).toBeLessThan(LOSS_MS)
    counted.lacking++
    // Also report the wall-clock count, which should be zero on an idle machine.
    if (age >= LOSS_MS) counted.beyond++
    if (age - death.withheld.byScheduler(at) >= LOSS_MS) counted.beyondForWrites++
    counted.oldest = Math.max(counted.oldest, Math.round(age))
    counted.oldestOwn = Math.max(counted.oldestOwn, Math.round(own))
  }

  async #lookAtHooks(): Promise<void> {
    const { hooks }: { hooks: Row[] } = granted(await this.#gateway.call('GET', '/v1/hooks'))
    const shown = new Map(hooks.map((row) => [String(row.id), hookOf(row)]))
    for (const [id, promised] of this.#hooks) {
      const allowed = this.#unsure.has(id) ? [promised, this.#unsure.get(id)] : [promised]
      expect(allowed, `hook ${id}`).toContainEqual(shown.get(id))
      this.#hooks.set(id, shown.get(id))
    }
    this.#unsure.clear()
  }

  /** The newest execution of each event. Fails if one exists twice. */
  async #history(filter: Record<string, string>, atMost = Number.POSITIVE_INFINITY, tenant?: string) {
    const byEvent = new Map<string, Row[]>()
    const keys = new Set<unknown>()
    let count = 0
    for (let cursor = ''; count < atMost; ) {
      const query = new URLSearchParams({ ...filter, limit: '200', cursor })
      const page = granted(await this.#gateway.call('GET', `/v1/executions?${query}`, undefined, tenant))
      for (const row of page.executions) {
        byEvent.set(row.event_id, [...(byEvent.get(row.event_id) ?? []), row])
        keys.add(row.dedup_key)
        count++
      }
      if (page.nextCursor === '') break
      cursor = page.nextCursor
    }
    expect(keys.size, 'no record exists twice').toBe(count)
    return byEvent
  }

  async #loop(once: () => Promise<void>): Promise<void> {
    while (!this.#stopped) await once()
  }

  /** Undefined if no gateway answered, or if the store was unavailable. */
  async #ask(verb: string, path: string, body?: unknown, tenant?: string): Promise<Outcome> {
    try {
      const reply = await this.#gateway.call(verb, path, body, tenant)
      if (reply.status === 200 && reply.body.decision?.code !== 'store.unavailable') {
        this.counted.answers++
        return reply
      }
      this.counted.refused++
      const code = reply.body.error?.details?.code ?? reply.body.decision?.code
      expect(code, JSON.stringify(reply.body)).toBe('store.unavailable')
      return undefined
    } catch (thrown) {
      if (thrown instanceof Error && thrown.name === 'AssertionError') throw thrown
      // Do not retry at full speed against a dead process.
      await new Promise((later) => setTimeout(later, 5))
      return undefined
    }
  }

  #gate(): Promise<void> {
    return this.#loop(async () => {
      const isBash = Math.random() < 0.3
      const reply = await this.#ask('POST', '/v1/dispatch', gate(isBash ? 'Bash' : 'Read'))
      if (reply === undefined) return
      expect(reply.body.decision.kind).toBe(isBash ? 'block' : 'allow')
      this.#gates.set(reply.body.event_id, reply.at)
    })
  }

  #careful(): Promise<void> {
    return this.#loop(async () => {
      const reply = await this.#ask('POST', '/v1/dispatch', gate('Read'), 'careful')
      if (reply !== undefined) this.#strict.set(reply.body.event_id, reply.at)
    })
  }

  #observe(): Promise<void> {
    return this.#loop(async () => {
      const tag = `tag-${randomUUID()}`
      const body = { event: 'session_end', payload: { reason: tag } }
      const reply = await this.#ask('POST', '/v1/dispatch', body)
      if (reply !== undefined) this.#observed.set(tag, reply.body.event_id)
    })
  }

  #repeat(): Promise<void> {
    return this.#loop(async () => {
      const key = randomUUID()
      const reply = await this.#ask('POST', '/v1/dispatch', keyed(key))
      if (reply !== undefined) this.#kept.set(key, reply.body)
    })
  }

  /** Creates, changes and toggles one hook after the other, and deletes half of them. */
  #change(): Promise<void> {
    return this.#loop(async () => {
      const hook = { event: 'pre_tool_use', handler_type: 'function', scope: 'tenant', matcher: '^Never$' }
      const first: Hook = { description: 'made', enabled: true }
      const made = await this.#ask('POST', '/v1/hooks', { ...hook, ...first, config: { name: 'pass' } })
      if (made === undefined) return
      const id: string = made.body.hookId
      this.#hooks.set(id, first)
      const description = randomUUID()
      const change = async (verb: string, path: string, body: unknown, after: Hook | undefined) => {
        if (this.#unsure.has(id)) return
        if ((await this.#ask(verb, `/v1/hooks/${id}${path}`, body)) === undefined) this.#unsure.set(id, after)
        else this.#hooks.set(id, after)
      }
      await change('PATCH', '', { updates: { description } }, { description, enabled: true })
      await change('POST', '/toggle', { enabled: false }, { description, enabled: false })
      if (Math.random() < 0.5) await change('DELETE', '', undefined, undefined)
    })
  }
}

const gate = (tool: string, input: Row = {}) => ({
  event: 'pre_tool_use',
  payload: { tool_name: tool, tool_input: input },
})

const keyed = (key: string) => ({ ...gate('Once'), idempotency_key: key })

function hookOf({ description, enabled }: Row): Hook {
  return { description: String(description), enabled: enabled === true }
}

function granted({ status, body }: Reply): Reply['body'] {
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}
