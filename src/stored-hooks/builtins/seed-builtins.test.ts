import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { admin, openTestMethods, type TestMethods } from '../../../test/gateway/test-methods.fixture.ts'
import { MASTER_TENANT } from '../../access/tenant-tables.ts'
import { recorder } from '../../testing/recorder.ts'
import { piiRedactor } from './pii-redactor.ts'
import { builtinId, seedBuiltins } from './seed-builtins.ts'

let methods: TestMethods
beforeAll(async () => {
  methods = await openTestMethods()
})
afterAll(() => methods.close())

const seeding = () => ({ store: methods.store, clock: methods.clock, log: () => {} })
const events = ['user_prompt_submit', 'pre_tool_use']
const ids = events.map((event) => builtinId('pii-redactor', event))
const rows = () => Promise.all(ids.map((id) => methods.store.findHook(MASTER_TENANT, id)))

describe('seeding', () => {
  beforeEach(() => seedBuiltins(seeding()))

  test('GC-88 GC-90 one row for each event, with ids that are the same everywhere', async () => {
    expect(ids).toEqual(['adf28f53-17ef-5f64-9290-9bfa14940397', '9e431554-c622-5c87-914e-b7b08d8bb924'])
    expect(await rows()).toMatchObject(
      events.map((event) => ({
        event,
        tenant_id: MASTER_TENANT,
        scope: 'global',
        source: 'builtin',
        handler_type: 'script',
        enabled: false,
        priority: 900,
        timeout_ms: 2_000,
        on_timeout: 'allow',
        version: 1,
      })),
    )
  })

  test('GC-89 one that is on by default is on when it comes', async () => {
    const builtin = { ...piiRedactor, name: 'another', isOnByDefault: true }
    await seedBuiltins(seeding(), [builtin])
    for (const event of events)
      expect(await methods.store.findHook(MASTER_TENANT, builtinId('another', event))).toMatchObject({
        enabled: true,
      })
  })

  test('GC-89 the same again changes nothing', async () => {
    const before = await rows()
    await seedBuiltins(seeding())
    expect(await rows()).toEqual(before)
  })

  test('GC-89 newer content replaces the old one and keeps whether it is on', async () => {
    const [id = ''] = ids
    await methods.store.toggleHook(MASTER_TENANT, id, { enabled: true }, 1)
    await seedBuiltins(seeding(), [{ ...piiRedactor, version: 3, source: `${piiRedactor.source}// newer` }])
    const [on, off] = await rows()
    expect(on).toMatchObject({ enabled: true, config: { version: 3 }, source: 'builtin' })
    expect(off).toMatchObject({ enabled: false, config: { version: 3 } })
  })

  test('GC-89 older content is not put in the place of newer, and that is said', async () => {
    const seen = recorder()
    const before = await rows()
    await seedBuiltins({ ...seeding(), log: seen.log })
    expect(await rows()).toEqual(before)
    expect(seen.lines.map(({ name }) => name)).toEqual(['gateway.builtin_newer', 'gateway.builtin_newer'])
  })
})

describe('pii-redactor', () => {
  const tried = async (event: string, sampleEvent: object) => {
    const config = { event, handler_type: 'script', scope: 'tenant', config: { source: piiRedactor.source } }
    return (await methods.call('hooks.test', { config, sampleEvent }, admin)).result
  }

  test.each([
    ['write to ann.lee+x@mail.example.org now', 'write to [REDACTED_EMAIL] now'],
    ['call +49 30 1234567 or (555) 123-4567', 'call [REDACTED_PHONE] or [REDACTED_PHONE]'],
    ['+14155550123 and 415.555.0123', '[REDACTED_PHONE] and [REDACTED_PHONE]'],
  ])('GC-90 a prompt: %s', async (rawInput, updatedInput) => {
    expect(await tried('user_prompt_submit', { rawInput })).toMatchObject({ decision: 'allow', updatedInput })
    // What it wrote is left alone.
    expect(await tried('user_prompt_submit', { rawInput: updatedInput })).not.toHaveProperty('updatedInput')
  })

  test.each(['2026-08-01 12:30:45', '127.0.0.1:4665', '3f2504e0-4f89-11d3-9a0c-0305e82c3301', 'a @ b'])(
    'GC-90 %s is neither',
    async (rawInput) => {
      expect(await tried('user_prompt_submit', { rawInput })).not.toHaveProperty('updatedInput')
    },
  )

  test('GC-86 GC-90 in a tool call only command, query and content', async () => {
    const mail = 'ann@example.org'
    const toolInput = { command: `mail ${mail}`, query: mail, content: mail, path: mail, lines: 5 }
    const { updatedInput } = await tried('pre_tool_use', { toolName: 'exec', toolInput })
    const hidden = '[REDACTED_EMAIL]'
    expect(updatedInput).toEqual({
      command: `mail ${hidden}`,
      query: hidden,
      content: hidden,
      path: mail,
      lines: 5,
    })
  })
})
