import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { Functions } from '../../src/app/gateway/hooks/function-handler.ts'
import type { Store } from '../../src/store/store.ts'
import type { FakeModel, FaultPlan, FaultyStore } from '../../src/testing/index.ts'
import type { Answer, Running } from '../gateway/running.fixture.ts'
import type { QuickClock } from './quick-clock.fixture.ts'

/** What the hooks of all stories have done. */
export interface Deeds {
  readonly functions: Functions
  /** Event id → how often its observer ran. */
  readonly noted: ReadonlyMap<string, number>
  /** Key → how often the hook of `Once` ran. */
  readonly ran: ReadonlyMap<string, number>
}

export function deeds(): Deeds {
  const noted = new Map<string, number>()
  const ran = new Map<string, number>()
  const count = (of: Map<string, number>, key: string) => of.set(key, (of.get(key) ?? 0) + 1)
  return {
    noted,
    ran,
    functions: {
      stop: () => ({ kind: 'block', reason: 'stop' }),
      note: (_, { envelope }) => void count(noted, envelope.id ?? ''),
      once: ({ tool_input: { key } }: { tool_input: { key: string } }) => {
        count(ran, key)
        return { kind: 'block', reason: randomUUID() }
      },
    },
  }
}

export interface Stage {
  readonly gateway: Running
  readonly faulty: FaultyStore<Store>
  readonly clock: QuickClock
  readonly model: FakeModel
  readonly deeds: Deeds
}

export const TOKENS_OF_A_JUDGEMENT = 15
/** Far longer than any step of a story takes. */
const HANG_MS = 60_000
const LEASE_MS = 30_000

type Fields = Readonly<Record<string, unknown>>

/** Runs a tenant through all kinds of requests while its store fails as planned. Returns how often it failed. */
export async function tell(stage: Stage, plan?: FaultPlan): Promise<number> {
  const { tenantId } = granted(
    await stage.gateway.call('POST', '/v1/tenants', { name: `story ${randomUUID()}` }),
  )
  const story = new Story(stage, tenantId)
  await story.prepare()
  stage.faulty.plan(plan)
  await story.live()
  const faults = stage.faulty.faults()
  stage.faulty.plan()
  stage.faulty.release()
  await story.calm()
  await story.resume()
  await story.judge()
  return faults
}

class Story {
  readonly #stage: Stage
  readonly #tenant: string
  readonly #key = randomUUID()
  readonly #decided = new Set<string>()
  readonly #acknowledged: string[] = []
  #observer = ''
  /** The hook of `Bash`, once its creation was acknowledged. */
  #hook: string | undefined
  /** The last acknowledged state of that hook; undefined while it is unknown. */
  #enabled: boolean | undefined
  #once: Answer | undefined
  #lostBudget = 0

  constructor(stage: Stage, tenant: string) {
    this.#stage = stage
    this.#tenant = tenant
  }

  /** Prepares the tenant before failures start. Dispatches nothing, so that loading the hooks fails too. */
  async prepare(): Promise<void> {
    const { model } = this.#stage
    const observer = { event: 'session_end', config: { name: 'note' } }
    this.#observer = granted(await this.#make(observer)).hookId
    granted(await this.#make({ matcher: '^Once$', config: { name: 'once' } }))
    granted(await this.#make({ matcher: '^Cool$', cooldown_ms: 3_600_000 }))
    granted(await this.#make({ matcher: '^Spend$', budget: { name: 'b', limit: 10 } }))
    const config = { prompt_template: 'Judge this.', model: 'haiku' }
    granted(await this.#make({ matcher: '^Judge$', handler_type: 'prompt', config }))
    const provider = { baseUrl: model.url('anthropic'), apiKey: 'key' }
    granted(await this.#send('PUT', '/v1/providers/anthropic', provider))
  }

  /** The requests that run while the store fails. */
  async live(): Promise<void> {
    const { faulty } = this.#stage
    const made = await this.#make({ matcher: '^Bash$', name: 'stop' })
    if (made.status === 200) {
      this.#hook = made.body.hookId
      this.#enabled = true
    }
    await this.#bash()
    await this.#gate('Read')
    await this.#end('exit')
    await this.#twice()
    neverAllowed(await this.#gate('Cool'), 'the first time a cooldown is asked')
    await this.#gate('Cool')
    neverAllowed(await this.#gate('Spend'), 'within its budget')
    neverAllowed(await this.#gate('Judge', { n: 1 }), 'a model says block')
    await this.#toggle(false)
    await this.#bash()
    await this.#toggle(true)
    await this.#bash()
    await this.#send('GET', '/v1/executions?limit=5')
    await this.#send('PATCH', '/v1/settings', { settings: { audit: 'strict' } })
    await this.#gate('Read')
    await this.#end('clear')
    await this.#bash()
    this.#lostBudget = faulty.calls().filter(({ method }) => method === 'spendBudget').length
  }

  /** Waits until all deliveries are done. A lost claim is free again when its lease expires. */
  async calm(): Promise<void> {
    const { gateway, clock } = this.#stage
    await gateway.until(
      () => gateway.call('GET', '/healthz'),
      ({ status }) => status === 200,
    )
    const left = async () => granted(await this.#send('GET', '/v1/deliveries')).deliveries
    if ((await left()).length > 0) clock.skip(LEASE_MS)
    await gateway.until(left, ({ length }) => length === 0)
    await gateway.until(
      () => gateway.call('GET', '/healthz'),
      ({ body }) => body.status.find(({ name }: Fields) => name === 'audit').details.waiting === 0,
    )
  }

  /** Repeats unanswered requests. Afterwards everything is as if nothing had failed. */
  async resume(): Promise<void> {
    const { hooks } = granted(await this.#send('GET', '/v1/hooks'))
    const found: Fields[] = hooks.filter(({ name }: Fields) => name === 'stop')
    expect(found.length, 'a hook is made once').toBeLessThanOrEqual(1)
    if (this.#hook !== undefined) expect(found[0]).toMatchObject({ id: this.#hook })
    if (this.#enabled !== undefined) expect(found[0]).toMatchObject({ enabled: this.#enabled })
    const [row] = found
    if (row !== undefined) {
      this.#hook = String(row.id)
      await this.#toggle(true)
      expect(this.#enabled).toBe(true)
    }
    await this.#bash()
    const again = await this.#gate('Once', { key: this.#key }, { idempotency_key: this.#key })
    expect(isDecided(again), `asked again: ${JSON.stringify(again.body)}`).toBe(true)
    if (this.#once !== undefined) expect(again.body).toEqual(this.#once.body)
    neverAllowed(await this.#gate('Judge', { n: 2 }), 'a model says block')
    await this.calm()
  }

  async judge(): Promise<void> {
    const { noted } = this.#stage.deeds
    const rows = await this.#history()
    const keys = rows.map(({ dedup_key }) => dedup_key)
    expect(new Set(keys).size, 'no record exists twice').toBe(keys.length)
    for (const id of this.#acknowledged) {
      expect(noted.get(id) ?? 0, 'what was acknowledged is delivered').toBeGreaterThan(0)
      const own = rows.filter((row) => row.event_id === id && row.hook_id === this.#observer)
      expect(own.length, 'what was delivered is recorded').toBeGreaterThan(0)
    }
    for (const id of this.#decided)
      expect((await this.#send('GET', `/v1/events/${id}`)).status, 'what was answered is recorded').toBe(200)
    const { budget } = granted(await this.#send('GET', '/v1/budget'))
    const judgements = (budget.budget_total - budget.remaining) / TOKENS_OF_A_JUDGEMENT
    // The first exists or not, the second always does. A lost answer may spend twice, but no spending is lost.
    expect(judgements).toBeGreaterThanOrEqual(1)
    expect(judgements).toBeLessThanOrEqual(2 + this.#lostBudget)
  }

  async #send(verb: string, path: string, body?: unknown): Promise<Answer> {
    const what = `${verb} ${path} ${JSON.stringify(body) ?? ''}`
    const headers = { 'x-hookhelm-tenant': this.#tenant }
    const answer = await inTime(what, this.#stage.gateway.call(verb, path, body, headers))
    if (answer.status === 200) return answer
    const code = answer.body.error?.details?.code
    expect(code, `${what}: ${JSON.stringify(answer.body)}`).toMatch(/^\w+\.\w+$/)
    expect(code, what).not.toBe('gateway.internal')
    return answer
  }

  #make(definition: Fields): Promise<Answer> {
    const usual = { event: 'pre_tool_use', handler_type: 'function', scope: 'tenant' }
    return this.#send('POST', '/v1/hooks', { ...usual, config: { name: 'stop' }, ...definition })
  }

  async #gate(tool: string, input: Fields = {}, more: Fields = {}): Promise<Answer> {
    const payload = { tool_name: tool, tool_input: input }
    const answer = await this.#send('POST', '/v1/dispatch', { event: 'pre_tool_use', payload, ...more })
    if (isDecided(answer)) this.#decided.add(answer.body.event_id)
    return answer
  }

  async #bash(): Promise<void> {
    const answer = await this.#gate('Bash')
    if (this.#enabled) neverAllowed(answer, 'a blocking hook is acknowledged')
  }

  async #end(reason: string): Promise<void> {
    const answer = await this.#send('POST', '/v1/dispatch', { event: 'session_end', payload: { reason } })
    if (answer.status !== 200) return
    this.#acknowledged.push(answer.body.event_id)
    this.#decided.add(answer.body.event_id)
  }

  /** Sends the same key twice. Once answered, it is neither answered differently nor run again. */
  async #twice(): Promise<void> {
    const { ran } = this.#stage.deeds
    const ask = () => this.#gate('Once', { key: this.#key }, { idempotency_key: this.#key })
    const first = await ask()
    const before = ran.get(this.#key)
    const second = await ask()
    for (const answer of [first, second]) if (isDecided(answer)) this.#once ??= answer
    if (!isDecided(first)) return
    expect(ran.get(this.#key)).toBe(before)
    if (isDecided(second)) expect(second.body).toEqual(first.body)
  }

  async #toggle(enabled: boolean): Promise<void> {
    if (this.#hook === undefined) return
    const { status } = await this.#send('POST', `/v1/hooks/${this.#hook}/toggle`, { enabled })
    this.#enabled = status === 200 ? enabled : undefined
  }

  async #history(): Promise<Fields[]> {
    const rows: Fields[] = []
    for (let cursor = ''; ; ) {
      const page = granted(await this.#send('GET', `/v1/executions?limit=200&cursor=${cursor}`))
      rows.push(...page.executions)
      if (page.nextCursor === '') return rows
      cursor = encodeURIComponent(page.nextCursor)
    }
  }
}

/** Whether the hooks decided, and not a failure of the store. */
function isDecided({ status, body }: Answer): boolean {
  return status === 200 && body.decision.code !== 'store.unavailable'
}

function neverAllowed({ status, body }: Answer, while_: string): void {
  if (status === 200) expect(body.decision.kind, `while ${while_}: ${JSON.stringify(body)}`).toBe('block')
}

function granted({ status, body }: Answer): Answer['body'] {
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

async function inTime<T>(what: string, asked: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer: ${what}`)), HANG_MS)
  })
  try {
    return await Promise.race([asked, late])
  } finally {
    clearTimeout(timer)
  }
}
