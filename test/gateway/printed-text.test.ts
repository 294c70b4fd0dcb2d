import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ProcessReply } from '../../src/agents/agent-adapter.ts'
import { clients } from '../agents/clients.fixture.ts'
import { payload } from '../agents/payloads.fixture.ts'
import { scratch, write } from '../trust/repository.fixture.ts'
import { hookhelm } from './doors.fixture.ts'
import { shared } from './running.fixture.ts'
import { openLines } from './socket.fixture.ts'

/** What guards print in place of an answer. */
const texts: Readonly<Record<string, string | Buffer>> = {
  'a refusal in words': 'Blocked by policy: do not run this\n',
  'a refusal in capitals': 'DENY: production',
  no: 'no',
  'an error': 'Error: cannot reach policy server',
  'a traceback':
    'Traceback (most recent call last):\n  File "guard.py", line 3, in <module>\nKeyError: \'x\'\n',
  'binary bytes': Buffer.from([0, 1, 2, 0xff, 0xfe, 0x80, 0x1b]),
  'UTF-16': Buffer.from('\ufeff{"decision":"allow"}', 'utf16le'),
  'several answers': '{}\n{"decision":"allow"}\n',
  'JSON and then text': '{"decision":"allow"}\nchecked 3 rules\n',
  'more than a hook may print': 'x'.repeat(1_100_000),
}

/** The first gate before a tool call, as each agent names it. */
const gates: Readonly<Record<string, string>> = {
  'claude-code': 'PreToolUse',
  codex: 'PreToolUse',
  'gemini-cli': 'BeforeTool',
  'copilot-cli': 'preToolUse',
  opencode: 'tool.execute.before',
}

const cleaning: (() => void)[] = []
const home = scratch((clean) => void cleaning.push(clean))
const printed = join(home, 'printed')
const receiver = createServer((_, response) => void response.end(readFileSync(printed)))
beforeAll(async () => new Promise<void>((done) => void receiver.listen(0, '127.0.0.1', done)))
afterAll(() => {
  receiver.close()
  for (const clean of cleaning) clean()
})

const handlers = {
  command: () => `{ exec: [cat, ${printed}] }`,
  http: () => `{ url: "http://127.0.0.1:${(receiver.address() as AddressInfo).port}" }`,
} as const

describe.each(Object.entries(handlers))('text that a hook of type %s prints', (type, config) => {
  const file = join(home, 'hooks.yaml')
  const gateway = shared(() => {
    write(
      file,
      `hooks:\n  - { id: guard, event: pre_tool_use, handler_type: ${type}, config: ${config()} }\n`,
    )
    return { home, outbound: { allow: ['127.0.0.1'] } }
  })
  const isBlocked = async (agent: string, event: string) => {
    const lines = openLines(gateway().socket ?? '', { hookhelm: 1, agent })
    lines.send({ id: 1, event, native: payload(agent, event) })
    lines.send({ id: 1, event, native: payload(agent, event) })
    const { reply } = await lines.next()
    return agent === 'opencode'
      ? JSON.stringify(reply).includes('block')
      : clients[agent]?.(event, reply as ProcessReply)
  }

  describe.each(Object.entries(gates))('of %s', (agent, event) => {
    const ask = (text: string | Buffer) => {
      writeFileSync(printed, text)
      return isBlocked(agent, event)
    }

    test.each(Object.entries(texts))('blocks the call, and an answer lets it run: %s', async (_, text) => {
      // Good answers in between, because a hook that fails five times in a row is switched off.
      expect(await ask('{"decision":"allow"}')).toBe(false)
      expect(await ask(text)).toBe(true)
    })

    test('does not block if it is empty, blank or {}', async () => {
      for (const text of ['', ' \n', '{}']) expect(await ask(text)).toBe(false)
    })
  })

  test('is recorded, explained to the author, and listed where a hook takes it for a log', async () => {
    const call = { tool_name: 'Bash', tool_input: { command: 'ls' } }
    writeFileSync(printed, 'DENY: production')
    const { body } = await gateway().dispatch('pre_tool_use', call)
    expect(body.decision.message).toContain('declare `answer: strict`')
    const { body: page } = await gateway().call('GET', '/v1/executions?decision=error&limit=1')
    expect(page.executions[0]).toMatchObject({ decision: 'error', metadata: { printed: 'DENY: production' } })
    const id = await gateway().hook({
      event: 'pre_tool_use',
      handler_type: 'command',
      name: 'takes text',
      config: { command: 'echo fine' },
    })
    const listed = await hookhelm(gateway(), ['list', 'pre_tool_use'])
    expect(listed.stdout).toMatch(/takes text .*takes text for a log \(answer: strict\)/)
    expect(listed.stdout).not.toMatch(/guard .*takes text for a log/)
    const doctor = await hookhelm(gateway(), ['doctor'])
    expect(doctor.stdout).toContain('hook takes text on pre_tool_use takes text for a log (answer: strict)')
    await gateway().call('DELETE', `/v1/hooks/${id}`)
  })
})
