import type { Running } from '../gateway/running.fixture.ts'

/** Text that a page must show as text: HTML, a right-to-left override, and one word that never breaks. */
const HOSTILE = `<img src=x onerror="window.hacked = true"><script>window.hacked = true</script>\u202egnp.exe ${'x'.repeat(3_000)}`

const script = (answer: string) => ({ source: `function handle(event) {\n  ${answer}\n}\n` })

const hooks = {
  noForce: {
    name: 'no-force',
    description: 'Blocks forced pushes.',
    matcher: 'Bash(git push --force*)',
    priority: 300,
    config: script("return { decision: 'block', reason: 'Push without --force.' }"),
  },
  addTimeout: {
    name: 'add-timeout',
    description: 'Gives test runs a limit.',
    matcher: 'Bash(npm test*)',
    priority: 400,
    config: script(
      "return { decision: 'allow', updatedInput: { ...event.tool_input, command: 'timeout 60 ' + event.tool_input.command, timeout: 60 } }",
    ),
  },
  productionData: {
    name: 'production-data',
    description: 'Asks before a production database is changed.',
    matcher: 'Bash(psql*)',
    config: script("return { decision: 'ask', reason: 'It changes the production database.' }"),
  },
  egress: {
    name: 'egress',
    description: 'Is tried on real traffic before it decides.',
    matcher: 'Bash(curl*)',
    shadow: true,
    config: script("return { decision: 'block', reason: 'Unknown host.' }"),
  },
  licence: {
    name: 'licence-check',
    matcher: 'Write(*)',
    on_error: 'allow',
    config: script("throw new Error('the list of licences is gone')"),
  },
  scanner: {
    name: 'secret-scanner-with-a-name-that-is-much-longer-than-any-column-of-any-table',
    matcher: 'WebFetch',
    config: script("throw new Error('the scanner is down')"),
  },
} as const

interface Seeded {
  readonly hookIds: Readonly<Record<keyof typeof hooks, string>>
  readonly eventIds: {
    readonly block: string
    readonly rewrite: string
    readonly ask: string
    readonly opened: string
    readonly failed: string
    readonly shadow: string
    readonly hostile: string
    readonly big: string
  }
  readonly sessionId: string
}

/** Three sessions with every outcome, a sub-agent, a hook that its breaker switched off, and hostile text. */
export async function seed(gateway: Running): Promise<Seeded> {
  const ids: Record<string, string> = {}
  for (const [key, hook] of Object.entries(hooks))
    ids[key] = await gateway.hook({ event: 'pre_tool_use', handler_type: 'script', ...hook })
  const eventIds = {
    ...(await fixCheckoutTax(sender(gateway, 'claude-code', 'fix-checkout-tax', '/work/shop-api'))),
    ...(await rotateKeys(sender(gateway, 'codex', 'rotate-keys', '/work/billing'))),
    ...(await hostileSession(sender(gateway, 'gemini-cli', 'hostile', `/work/${'folder-'.repeat(20)}`))),
  }
  await gateway.until(
    () => gateway.call('GET', `/v1/hooks/${ids.scanner}`),
    ({ body }) => body.hook.enabled === false,
  )
  await gateway.until(
    () => gateway.call('GET', '/v1/sessions'),
    ({ body }) => body.sessions.length === 3,
  )
  return { hookIds: ids as Seeded['hookIds'], eventIds, sessionId: 'fix-checkout-tax' }
}

type Send = (event: string, payload: unknown, lane?: string) => Promise<string>

/** Dispatches events of one session; each answers its event's id. */
function sender(gateway: Running, agent: string, session: string, cwd: string): Send {
  return async (event, payload, lane) => {
    const envelope = { agent, session, cwd, ...(lane === undefined ? {} : { lane }) }
    const { status, body } = await gateway.dispatch(event, payload, { envelope })
    if (status !== 200) throw new Error(JSON.stringify(body))
    return body.event_id
  }
}

const bash = (command: string) => ({ tool_name: 'Bash', tool_input: { command } })
const tool = (tool_name: string, tool_input: Readonly<Record<string, unknown>>) => ({ tool_name, tool_input })

async function fixCheckoutTax(send: Send) {
  await send('session_start', { source: 'startup' })
  await send('user_prompt_submit', {
    prompt: 'The tax on the checkout page is rounded twice. Find out why and fix it.',
  })
  await send('pre_tool_use', tool('Read', { file_path: 'src/checkout/tax.ts' }))
  const rewrite = await send('pre_tool_use', bash('npm test -- tax'))
  await send('pre_tool_use', tool('Agent', { description: 'Explore how other pages round' }))
  await send('subagent_start', { agent_type: 'Explore' }, 'explore-1')
  await send('pre_tool_use', tool('Grep', { pattern: 'roundHalfUp' }), 'explore-1')
  await send('pre_tool_use', bash('git push --force origin explore'), 'explore-1')
  await send('subagent_stop', { agent_type: 'Explore' }, 'explore-1')
  await send('pre_tool_use', tool('Edit', { file_path: 'src/checkout/tax.ts' }))
  await send('pre_compact', { trigger: 'auto' })
  await send('user_prompt_submit', { prompt: 'Good. Push it and open a pull request.' })
  const block = await send('pre_tool_use', bash('git push --force origin main'))
  await send('pre_tool_use', bash('git push origin fix/tax-rounding'))
  await send('stop', {})
  return { rewrite, block }
}

async function rotateKeys(send: Send) {
  await send('user_prompt_submit', { prompt: 'Rotate the keys of the billing service.' })
  const ask = await send('pre_tool_use', bash('psql prod -c "delete from carts where id < 10"'))
  const shadow = await send('pre_tool_use', bash('curl https://example.com/keys'))
  const opened = await send('pre_tool_use', tool('Write', { file_path: '.env.production', content: 'A=1' }))
  let failed = ''
  for (let index = 0; index < 6; index++)
    failed = await send('pre_tool_use', tool('WebFetch', { url: `https://example.com/${index}` }))
  await send('session_end', { reason: 'logout' })
  return { ask, shadow, opened, failed }
}

async function hostileSession(send: Send) {
  await send('user_prompt_submit', { prompt: HOSTILE })
  const hostile = await send('pre_tool_use', bash(HOSTILE))
  const big = await send(
    'pre_tool_use',
    tool('Write', { file_path: 'big.txt', content: 'y'.repeat(1_000_000) }),
  )
  return { hostile, big }
}
