import { chmodSync, chownSync, linkSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { gateway, opencode, type Place, place, type Wire } from './plugins.fixture.ts'

const call = { tool: 'bash', sessionID: 'ses_1', callID: 'call_1' }
const bash = (command = 'ls') => ({ args: { command, description: 'look' } as Record<string, unknown> })
const created = (id: string, parentID?: string) => ({
  event: { type: 'session.created', properties: { sessionID: id, info: { id, parentID } } },
})

async function started(answer: (wire: Wire) => void = (wire) => wire.reply({}), more: object = {}) {
  const where = place('opencode', more)
  const server = await gateway(where, (_, wire) => answer(wire))
  return { where, server, hooks: await opencode(where) }
}

const tool = (hooks: Awaited<ReturnType<typeof opencode>>, output = bash()) =>
  hooks['tool.execute.before']?.(call, output)

describe('a tool call', () => {
  test('goes on when there is no objection', async () => {
    const { hooks, server } = await started()
    const output = bash()
    await tool(hooks, output)
    expect(output).toEqual(bash())
    expect(server.hellos).toEqual([{ hookhelm: 1, agent: 'opencode', pid: process.pid }])
    expect(server.asked).toEqual([
      {
        id: 1,
        event: 'tool.execute.before',
        within_ms: 5_000,
        native: { input: call, output, directory: '/home/user/project' },
      },
    ])
  })

  test('is refused with the reason, which the model reads', async () => {
    const { hooks, where } = await started((wire) => wire.reply({ block: 'not on a Friday' }))
    await expect(tool(hooks)).rejects.toThrow(/^not on a Friday$/)
    expect(where.spooled()).toEqual([])
  })

  test('runs with other arguments, in the object that the host holds', async () => {
    const { hooks } = await started((wire) =>
      wire.raw('{"id":1,"reply":{"args":{"command":"true","__proto__":1}}}\n'),
    )
    const output = bash()
    const held = output.args
    await tool(hooks, output)
    expect(Object.entries(held)).toEqual([
      ['command', 'true'],
      ['__proto__', 1],
    ])
    expect(Object.getPrototypeOf(held)).toBe(Object.prototype)
  })

  test('waits while somebody decides', async () => {
    const { hooks } = await started((wire) => {
      wire.line({ id: 1, pending: 'asked the owner', until_ms: 9 })
      wire.line({ id: 1, pending: 'asked the owner' })
      wire.reply({ block: 'the owner said no' })
    })
    await expect(tool(hooks)).rejects.toThrow('the owner said no')
  })

  test('has its answer however the bytes are cut', async () => {
    const { hooks } = await started((wire) => {
      const bytes = Buffer.from('{"id":1,"reply":{"block":"не здесь"}}\n')
      for (const byte of bytes) wire.raw(Uint8Array.of(byte))
    })
    await expect(tool(hooks)).rejects.toThrow('не здесь')
  })

  test('and another at the same time each have their own answer, on one connection', async () => {
    const where = place('opencode')
    const waiting: Wire[] = []
    const server = await gateway(where, (_, wire) => {
      waiting.push(wire)
      if (waiting.length === 20)
        for (const each of waiting.toReversed()) each.reply({ args: { n: waiting.indexOf(each) } })
    })
    const hooks = await opencode(where)
    const outputs = Array.from({ length: 20 }, () => bash())
    await Promise.all(outputs.map((output) => tool(hooks, output)))
    expect(outputs.map(({ args }) => args.n)).toEqual(outputs.map((_, index) => index))
    expect(server.hellos).toHaveLength(1)
  })
})

/** Everything that is no clear answer, and what the model is told. */
const broken: Readonly<Record<string, (wire: Wire) => void>> = {
  garbage: (wire) => wire.raw('HTTP/1.1 200 OK\r\n\r\n'),
  'an empty line': (wire) => wire.raw('\n'),
  'the end': (wire) => wire.socket.end(),
  'a sudden end': (wire) => wire.socket.destroy(),
  'an unfinished line': (wire) => wire.socket.end('{"id":1,"reply":{}}'),
  'an answer to another question': (wire) => wire.line({ id: 2, reply: {} }),
  'an answer to no question': (wire) => wire.line({ id: 0, reply: {} }),
  'an id that is a text': (wire) => wire.line({ id: '1', reply: {} }),
  'a key too many': (wire) => wire.line({ id: 1, reply: {}, more: 1 }),
  'two answers in one': (wire) => wire.line({ id: 1, reply: {}, error: { message: 'x' } }),
  'no reply': (wire) => wire.line({ id: 1 }),
  'a list': (wire) => wire.reply([]),
  nothing: (wire) => wire.reply(null),
  'a text': (wire) => wire.reply('allow'),
  'a part that nobody carries out here': (wire) => wire.reply({ ask: 'sure?' }),
  'a part that nobody knows': (wire) => wire.reply({ deny: true }),
  'a block without words': (wire) => wire.reply({ block: ' ' }),
  'a block that is a flag': (wire) => wire.reply({ block: true }),
  'arguments that are a text': (wire) => wire.reply({ args: 'ls' }),
  'a reply as a command gets it': (wire) => wire.reply({ exit: 0, stdout: '', stderr: '' }),
  'an error about it': (wire) => wire.line({ id: 1, error: { code: 'x', message: 'too busy' } }),
  'an error about everything': (wire) => wire.line({ id: null, error: { code: 'x', message: 'too busy' } }),
  silence: () => {},
}

describe('no clear answer refuses the call', () => {
  test.each(Object.entries(broken))('%s', async (name, answer) => {
    const { hooks, where } = await started(answer, name === 'silence' ? { within: 40 } : {})
    const output = bash()
    await expect(tool(hooks, output)).rejects.toThrow(/^hookhelm: [^\n]+$/)
    expect(output).toEqual(bash())
    expect(where.spooled()).toMatchObject([
      { agent: 'opencode', event: 'tool.execute.before', blocked: true, native: { input: call } },
    ])
  })

  test('and the prompt', async () => {
    const { hooks } = await started(broken.garbage)
    const output = { message: { id: 'msg_1' }, parts: [] }
    await expect(hooks['chat.message']?.({ sessionID: 'ses_1' }, output)).rejects.toThrow(/^hookhelm: /)
  })

  test('a reason of the gateway is one line without control characters', async () => {
    const message = 'too\n\u001b[31mbusy\u0007'
    const { hooks } = await started((wire) => wire.line({ id: 1, error: { code: 'x', message } }))
    await expect(tool(hooks)).rejects.toThrow(/^hookhelm: too \[31mbusy$/)
  })

  test('nobody listens', async () => {
    const where = place('opencode')
    await expect(tool(await opencode(where))).rejects.toThrow(
      `hookhelm: no gateway listens at ${where.settings.socket}; start it with "hookhelm up"`,
    )
    writeFileSync(where.settings.socket, '')
    await expect(tool(await opencode(where))).rejects.toThrow('is not a socket')
  })

  test('a socket that was left behind', async () => {
    const where = place('opencode')
    const elsewhere = `${where.settings.socket}.new`
    const server = await gateway({ settings: { ...where.settings, socket: elsewhere } }, () => {})
    renameSync(elsewhere, where.settings.socket)
    await server.stop()
    await expect(tool(await opencode(where))).rejects.toThrow(
      `hookhelm: no gateway listens at ${where.settings.socket}; start it with "hookhelm up"`,
    )
  })

  test.each([0o777, 0o770, 0o702])('others may write to the directory: %o', async (mode) => {
    const { hooks, where, server } = await started()
    chmodSync(where.folder, mode)
    await expect(tool(hooks)).rejects.toThrow('other users may write to the directory')
    expect(server.hellos).toEqual([])
  })

  test.skipIf(process.getuid?.() !== 0)('the directory or the socket belongs to somebody else', async () => {
    const { hooks, where } = await started()
    chownSync(where.settings.socket, 12_345, 12_345)
    await expect(tool(hooks)).rejects.toThrow('socket belongs to another user')
    chownSync(where.folder, 12_345, 12_345)
    await expect(tool(hooks)).rejects.toThrow('directory of the gateway’s socket belongs to another user')
  })

  test('an event that is too large is not sent', async () => {
    const { hooks, server, where } = await started()
    await expect(tool(hooks, bash('x'.repeat(9_000_000)))).rejects.toThrow('too large')
    expect(server.asked).toEqual([])
    expect(where.spooled()).toMatchObject([{ blocked: true, native: null }])
    await tool(hooks)
  })

  test('an event that is no JSON is not sent', async () => {
    const { hooks, where } = await started()
    await expect(tool(hooks, { args: { n: 1n } })).rejects.toThrow(/^hookhelm: /)
    expect(where.spooled()).toMatchObject([{ blocked: true, native: null }])
  })
})

describe('the gateway comes and goes', () => {
  test('after a restart the next call is asked again', async () => {
    const { hooks, where, server } = await started()
    await tool(hooks)
    await server.stop()
    await expect(tool(hooks)).rejects.toThrow(/^hookhelm: /)
    const next = await gateway(where, (_, wire) => wire.reply({ block: 'back' }))
    await expect(tool(hooks)).rejects.toThrow(/^back$/)
    expect(next.hellos).toHaveLength(1)
  })

  test('a connection that ended unnoticed costs no call', async () => {
    const where = place('opencode')
    const server = await gateway(where, ({ id }, wire) => (id === 2 ? wire.socket.destroy() : wire.reply({})))
    const hooks = await opencode(where)
    await tool(hooks)
    await tool(hooks)
    expect(server.asked.map(({ id }) => id)).toEqual([1, 2, 3])
    expect(server.hellos).toHaveLength(2)
  })

  test('but one that always ends does', async () => {
    const where = place('opencode')
    await gateway(where, ({ id }, wire) => (id > 1 ? wire.socket.destroy() : wire.reply({})))
    const hooks = await opencode(where)
    await tool(hooks)
    await expect(tool(hooks)).rejects.toThrow('ended the connection')
  })

  test('an answer that comes too late is no answer to the next question', async () => {
    const where = place('opencode', { within: 60 })
    let late: Wire | undefined
    const server = await gateway(where, ({ id }, wire) => {
      if (id === 1) late = wire
      else {
        late?.reply({ block: 'late' })
        wire.reply({ args: { command: 'second' } })
      }
    })
    const hooks = await opencode(where)
    await expect(tool(hooks)).rejects.toThrow('in time')
    const output = bash()
    await tool(hooks, output)
    expect(output.args).toEqual({ command: 'second' })
    expect(server.hellos).toHaveLength(1)
  })
})

describe('what only observes', () => {
  const idle = (id: string) => ({ event: { type: 'session.idle', properties: { sessionID: id } } })

  test('is told, and waits on disk when no gateway listens', async () => {
    const where = place('opencode')
    const hooks = await opencode(where)
    await Promise.all(Array.from({ length: 5 }, (_, n) => hooks.event?.(idle(`ses_${n}`))))
    const spooled = where.spooled()
    expect(
      spooled
        .map(({ native }) => (native as typeof native & ReturnType<typeof idle>).event.properties.sessionID)
        .sort(),
    ).toEqual(['ses_0', 'ses_1', 'ses_2', 'ses_3', 'ses_4'])
    for (const event of spooled) {
      expect(event).toMatchObject({
        agent: 'opencode',
        event: 'session.idle',
        at: expect.any(Number),
        why: expect.any(String),
      })
      expect(Object.keys(event)).toEqual(['agent', 'event', 'at', 'why', 'code', 'native'])
    }
    const { spool } = where.settings
    expect(statSync(spool).mode & 0o777).toBe(0o700)
    for (const name of readdirSync(spool)) {
      expect(name).toMatch(/^\d{13}-\d+\.json$/)
      expect(statSync(join(spool, name)).mode & 0o777).toBe(0o600)
    }
  })

  test('is kept when the answer is broken, and holds nobody up', async () => {
    const { hooks, where } = await started(broken.garbage)
    const output = { title: 't', output: 'hi', metadata: { exit: 0 } }
    await hooks['tool.execute.after']?.({ ...call, args: {} }, output)
    expect(output.output).toBe('hi')
    expect(where.spooled()).toMatchObject([{ event: 'tool.execute.after' }])
    expect(where.spooled()[0]).not.toHaveProperty('blocked')
  })

  test('is lost, and that is left as a note, when too much waits', async () => {
    const where = place('opencode')
    const hooks = await opencode(where)
    await hooks.event?.(idle('a'))
    const first = join(where.settings.spool, readdirSync(where.settings.spool)[0] ?? '')
    for (let n = 0; n < 10_000; n++) linkSync(first, join(where.settings.spool, `${n}-1.json`))
    await hooks.event?.(idle('b'))
    expect(readdirSync(where.settings.spool)).toContain('overflow')
    expect(readdirSync(where.settings.spool)).toHaveLength(10_002)
  })

  test('a folder that cannot be made is no trouble for the host', async () => {
    const where = place('opencode', { spool: '/proc/nothing/spool' })
    const hooks = await opencode(where)
    await hooks.event?.(idle('a'))
    await expect(tool(hooks)).rejects.toThrow(/^hookhelm: /)
  })

  test('what is under way when the host ends is waited for', async () => {
    const { hooks, server } = await started()
    void hooks.event?.(idle('a'))
    await hooks.dispose?.({})
    expect(server.asked).toHaveLength(1)
  })

  test('of the bus only what matters is told', async () => {
    const { hooks, server } = await started()
    const types = [
      'message.updated',
      'message.part.delta',
      'session.updated',
      'session.status',
      'plugin.added',
    ]
    for (const type of types) await hooks.event?.({ event: { type, properties: { sessionID: 'a' } } })
    await hooks.event?.({ event: { type: 'catalog.updated' } })
    expect(server.asked).toEqual([])
  })

  test('it is idle once, until it is busy again', async () => {
    const { hooks, server } = await started()
    const busy = {
      event: { type: 'session.status', properties: { sessionID: 'a', status: { type: 'busy' } } },
    }
    for (const event of [idle('a'), idle('a'), idle('b'), busy, idle('a')]) await hooks.event?.(event)
    expect(server.asked.map(({ native }) => native.event.properties.sessionID)).toEqual(['a', 'b', 'a'])
  })

  test('a call that threw has failed, one that we refused has not', async () => {
    const { hooks, server } = await started((wire) => wire.reply({}))
    const failed = (callID: string) => ({
      event: {
        type: 'message.part.updated',
        properties: {
          sessionID: 'a',
          part: { type: 'tool', tool: 'read', callID, state: { status: 'error' } },
        },
      },
    })
    await hooks.event?.(failed('call_0'))
    await server.stop()
    await expect(tool(hooks)).rejects.toThrow()
    const told = server.asked.length
    await hooks.event?.(failed(call.callID))
    expect(server.asked).toHaveLength(told)
    expect(server.asked[0]).toMatchObject({ event: 'message.part.updated' })
  })
})

describe('prompts and results', () => {
  const said = (text: string, id: string, synthetic?: true) => ({
    id,
    type: 'text',
    text,
    ...(synthetic && { synthetic }),
  })
  const message = { id: 'msg_1', sessionID: 'ses_1' }

  test('a prompt is refused', async () => {
    const { hooks } = await started((wire) => wire.reply({ block: 'no secrets' }))
    await expect(hooks['chat.message']?.({ sessionID: 'ses_1' }, { message, parts: [] })).rejects.toThrow(
      /^no secrets$/,
    )
  })

  test.each([
    ['', () => undefined],
    [', although that fails', () => Promise.reject(new Error('no screen'))],
    [
      ', although there is no screen',
      () => {
        throw new Error('no screen')
      },
    ],
  ])('a refused prompt is shown to the user%s', async (_, showing) => {
    const where = place('opencode')
    await gateway(where, (__, wire) => wire.reply({ block: 'no secrets' }))
    const shown: unknown[] = []
    const showToast = (toast: unknown) => {
      shown.push(toast)
      return showing()
    }
    const hooks = await opencode(where, { tui: { showToast } })
    await expect(hooks['chat.message']?.({ sessionID: 'ses_1' }, { message, parts: [] })).rejects.toThrow(
      /^no secrets$/,
    )
    expect(shown).toEqual([{ body: { title: 'Hookhelm', message: 'no secrets', variant: 'error' } }])
  })

  test('a prompt gets other words and more of them', async () => {
    const { hooks } = await started((wire) => wire.reply({ prompt: 'be nice', context: 'it is Friday' }))
    const parts = [said('be', 'prt_1'), said('a file', 'prt_2', true), said('rude', 'prt_3')]
    await hooks['chat.message']?.({ sessionID: 'ses_1' }, { message, parts })
    expect(parts).toEqual([
      said('be nice', 'prt_1'),
      said('a file', 'prt_2', true),
      {
        id: 'prt_2h',
        messageID: 'msg_1',
        sessionID: 'ses_1',
        type: 'text',
        text: 'it is Friday',
        synthetic: true,
      },
    ])
  })

  test('a result is changed in the object that the host holds', async () => {
    const { hooks } = await started((wire) => wire.reply({ output: { output: '***', attachments: [] } }))
    const output = { title: 't', output: 'secret', metadata: { exit: 0 } }
    await hooks['tool.execute.after']?.({ ...call, args: {} }, output)
    expect(output).toEqual({ title: 't', output: '***', metadata: { exit: 0 }, attachments: [] })
  })

  test('a call without a result is told all the same', async () => {
    const { hooks, server } = await started((wire) => wire.reply({ output: { output: 'x' } }))
    await hooks['tool.execute.after']?.({ ...call, args: {} }, undefined)
    expect(server.asked[0]?.native).toMatchObject({ output: null })
  })

  test('words are added to what is compacted', async () => {
    const { hooks } = await started((wire) => wire.reply({ context: 'keep the names' }))
    const output = { context: ['first'] }
    await hooks['experimental.session.compacting']?.({ sessionID: 'ses_1' }, output)
    expect(output.context).toEqual(['first', 'keep the names'])
  })

  test('requests to the model are told only when asked for, and without the key', async () => {
    const quiet = await started()
    expect(quiet.hooks).not.toHaveProperty(['chat.params'])
    const { hooks, server } = await started((wire) => wire.reply({ output: { temperature: 0 } }), {
      chatty: true,
    })
    const output = { temperature: 1, topP: 1 }
    const input = {
      sessionID: 's',
      agent: 'build',
      model: { id: 'm', providerID: 'p' },
      provider: { options: { apiKey: 'K' } },
    }
    await hooks['chat.params']?.(input, output)
    expect(output).toEqual({ temperature: 0, topP: 1 })
    expect(JSON.stringify(server.asked)).not.toContain('apiKey')
  })
})

test('a sub-agent is known by the session that everything began with', async () => {
  const { hooks, server } = await started()
  for (const event of [created('root'), created('child', 'root'), created('grandchild', 'child')])
    await hooks.event?.(event)
  await hooks['tool.execute.before']?.({ ...call, sessionID: 'grandchild' }, bash())
  expect(server.asked.map(({ native }) => native.sub)).toEqual([
    undefined,
    { root: 'root', parent: 'root', lane: 'child' },
    { root: 'root', parent: 'child', lane: 'grandchild' },
    { root: 'root', parent: 'child', lane: 'grandchild' },
  ])
})

test('fail-open is a choice: the call goes on, and it is written down', async () => {
  const where: Place = place('opencode', { failOpen: true })
  const hooks = await opencode(where)
  await tool(hooks)
  expect(where.spooled()).toMatchObject([{ event: 'tool.execute.before', opened: true }])
  await gateway(where, (_, wire) => wire.reply({ block: 'but a block is a block' }))
  await expect(tool(hooks)).rejects.toThrow('but a block is a block')
})
