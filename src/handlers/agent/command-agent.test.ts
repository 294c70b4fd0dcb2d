import { describe, expect, onTestFinished, test } from 'vitest'
import { createHooks } from '../../index.ts'
import { createProcesses } from '../../safe/process/run-process.ts'
import { agentHandler } from './agent.ts'
import { createAgentHost } from './agent-host.ts'

const { signal } = new AbortController()
const request = { input: { parameters: { path: '/x' } }, depth: 1, parent_event_id: 'e', tenant_id: 't' }

describe('an agent on the command line', () => {
  const js = (source: string) => ['node', '-e', source]
  const reading = 'let s = ""; process.stdin.on("data", (d) => s += d).on("end", () => {'

  function commandHost(argv: readonly string[], more: object = {}) {
    const processes = createProcesses()
    onTestFinished(() => processes.close())
    const commands = { checker: { argv, ...more } }
    const host = createAgentHost({ commands, runProcess: processes.run })
    const start = (extra: object = {}) =>
      host.startAgent({ ...request, agent_name: 'checker', ...extra }, signal)
    return { host, start }
  }

  test('reads the request, knows its depth, and prints its answer', async () => {
    const { start } = commandHost(
      js(
        `${reading} const r = JSON.parse(s); console.log(JSON.stringify({ action: "block", block_reason: r.input.parameters.path + process.env.HOOKHELM_DEPTH })) })`,
      ),
    )
    expect(await start()).toEqual({ action: 'block', block_reason: '/x1' })
  })

  test('may read the task as text and wrap its answer in a report', async () => {
    const source = `${reading} console.log(JSON.stringify({ cost: 1, result: JSON.stringify({ ok: s.startsWith("Check it.") }) })) })`
    const { start } = commandHost(js(source), { stdin: 'task', answer_field: 'result' })
    expect(await start({ prompt: 'Check it.' })).toEqual({ ok: true })
  })

  test('that fails, fails', async () => {
    const { start } = commandHost(js('console.error("no seat"); process.exit(3)'))
    await expect(start()).rejects.toMatchObject({
      code: 'agent.failed',
      message: expect.stringMatching(/exit code 3.*no seat/),
    })
  })

  test('that cannot be started is told so', async () => {
    await expect(commandHost(['/no/such/agent']).start()).rejects.toMatchObject({ code: 'process.start' })
  })

  test.each(['Fine.', '', '{"ok": true} trailing', '{"score": "high"}'])(
    '4.6 #100 that prints %j has not answered',
    async (printed) => {
      const { start } = commandHost(js(`process.stdout.write(${JSON.stringify(printed)})`))
      const output_schema = { required: ['score'], properties: { score: { type: 'number' } } }
      await expect(start({ output_schema })).rejects.toMatchObject({ code: 'agent.output_schema' })
    },
  )

  test('that prints more than a mebibyte has not answered, however it ends', async () => {
    const { start } = commandHost(js('process.stdout.write("x".repeat(2_000_000))'))
    await expect(start()).rejects.toMatchObject({ code: 'agent.output_schema' })
  })

  test('4.6 #102 is not started by a host without processes or models', async () => {
    const bare = createAgentHost({ commands: { checker: { argv: ['x'] } } })
    const none = { code: 'agent.no_host' }
    await expect(bare.startAgent({ ...request, agent_name: 'checker' }, signal)).rejects.toMatchObject(none)
    await expect(bare.startAgent({ ...request, prompt: 'x' }, signal)).rejects.toMatchObject(none)
    await expect(bare.startAgent('run' as never, signal)).rejects.toMatchObject({ code: 'agent.unknown' })
  })

  test('is killed at the deadline of its hook', async () => {
    const { host } = commandHost(js('setInterval(() => {}, 1000)'))
    const hooks = createHooks({ handlers: [agentHandler.create({})], host })
    const config = { agent_name: 'checker' }
    hooks.add({ event: 'pre_tool_use', handler_type: 'agent', config, timeout_ms: 200 })
    const decision = await hooks.dispatch('pre_tool_use', { tool_name: 'Bash', tool_input: {} })
    expect(decision).toMatchObject({ kind: 'block', code: 'agent.timeout' })
  })
})
