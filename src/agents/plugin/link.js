import net from 'node:net'
import { oneLine } from './one-line.js'
import { checkPlace } from './place.js'
import { openSpool } from './spool.js'

const MAX_LINE = 8 * 1_048_576 + 65_536
/** Nobody waits for an observation, so none may hold up the end of the host for long. */
const OBSERVE_MS = 2_000

/** Questions that nobody answered yet; they are kept when the host ends, so that history knows. */
const open = openQuestions()

/** A host may load this file more than once, and is listened to once. */
function openQuestions() {
  const name = Symbol.for('hookhelm.questions')
  if (process[name] === undefined) {
    process[name] = new Set()
    process.on('exit', () => {
      for (const keep of process[name]) keep('the agent ended before the gateway answered')
    })
  }
  return process[name]
}

/**
 * One connection to the gateway, opened with the first event and again after it was lost. It keeps the host alive only
 * while a question is open.
 */
export function openLink(settings) {
  const spool = openSpool(settings)
  const underWay = new Set()
  const waiting = new Map()
  let connection
  let count = 0

  function settle(id, how) {
    const question = waiting.get(id)
    if (question === undefined) return
    waiting.delete(id)
    clearTimeout(question.timer)
    if (waiting.size === 0) connection?.socket.unref()
    how(question)
  }

  /** Nothing that was asked here will be answered. */
  function lose(lost, why, hasEnded) {
    if (connection === lost) connection = undefined
    lost.socket.destroy()
    for (const [id, { on }] of [...waiting]) {
      if (on === lost) settle(id, (question) => question.fail(why, hasEnded))
    }
  }

  function dial() {
    checkPlace(settings.socket)
    const opened = { socket: net.connect({ path: settings.socket }), isUsed: false }
    const read = lines((text) => take(text))
    opened.socket.on('data', (chunk) => {
      const broken = read(chunk)
      if (broken !== undefined) lose(opened, broken, false)
    })
    opened.socket.on('error', ({ code }) =>
      lose(opened, `the gateway cannot be reached (${code ?? 'error'})`, true),
    )
    opened.socket.on('close', () => lose(opened, 'the gateway ended the connection without an answer', true))
    opened.socket.write(`${JSON.stringify({ hookhelm: 1, agent: settings.agent })}\n`)
    opened.socket.unref()
    return opened
  }

  /** One line of the gateway. Says why nothing further can be believed, if so. */
  function take(text) {
    const said = parse(text)
    const keys = Object.keys(said ?? {})
      .sort()
      .join()
    if (keys === 'error,id' && said.id === null) return errorText(said.error)
    if (!Number.isInteger(said?.id) || said.id < 1 || said.id > count)
      return 'the gateway answered what was not asked'
    if (keys === 'id,pending' || keys === 'id,pending,until_ms') return undefined
    if (keys === 'id,reply') settle(said.id, (question) => question.done(said.reply))
    else if (keys === 'error,id') settle(said.id, (question) => question.fail(errorText(said.error), false))
    else return 'the gateway’s answer cannot be read'
    return undefined
  }

  /** Asks on the connection there is. It may have been lost while nobody looked: then once more on a new one. */
  function put(event, native, within, mayRetry) {
    return new Promise((resolve, reject) => {
      const id = count + 1
      const text = `${JSON.stringify({ id, event, within_ms: Math.floor(within), native })}\n`
      if (Buffer.byteLength(text) > MAX_LINE) throw new Error('the event is too large to be checked')
      connection ??= dial()
      count = id
      const on = connection
      const wasUsed = on.isUsed
      on.isUsed = true
      const began = performance.now()
      waiting.set(id, {
        on,
        done: resolve,
        fail(why, hasEnded) {
          const left = within - (performance.now() - began)
          if (hasEnded && wasUsed && mayRetry && left > 1) resolve(put(event, native, left, false))
          else reject(new Error(why))
        },
        timer: setTimeout(
          () => settle(id, (question) => question.fail('the gateway did not answer in time', false)),
          within,
        ),
      })
      on.socket.ref()
      on.socket.write(text)
    })
  }

  /** What is answered, or why there is no clear answer. */
  async function ask(event, native, { within, read, keep }) {
    open.add(keep)
    try {
      return { reply: read(await put(event, native, within, true)) }
    } catch (error) {
      return { why: oneLine(error?.message) }
    } finally {
      open.delete(keep)
    }
  }

  async function watch(event, native, read, within) {
    const keep = (why) => spool.keep(event, native, why, {})
    const { reply, why } = await ask(event, native, { within, read, keep })
    if (reply === undefined) keep(why)
    return reply ?? {}
  }

  return {
    /** No clear answer refuses: throws, or goes on where the user chose that. */
    async gate(event, native, read) {
      const mark = settings.failOpen === true ? { opened: true } : { blocked: true }
      const keep = (why) => spool.keep(event, native, why, mark)
      const { reply, why } = await ask(event, native, { within: settings.within, read, keep })
      if (reply !== undefined) return reply
      keep(why)
      if (settings.failOpen !== true) throw new Error(`hookhelm: ${why}`)
      spool.say(`hookhelm: ${event} goes on unchecked, as chosen by --fail-open: ${why}`)
      return {}
    },
    /** The host waits, because the answer may still change something. Never throws. */
    consult: (event, native, read) => watch(event, native, read, settings.within),
    /** The host does not wait. */
    tell(event, native, read) {
      const told = watch(event, native, read, Math.min(settings.within, OBSERVE_MS))
      underWay.add(told)
      told.finally(() => underWay.delete(told))
      return told
    },
    say: spool.say,
    /** Waits for what the host did not wait for. */
    async flush() {
      await Promise.all(underWay)
    },
    close() {
      connection?.socket.destroy()
    },
  }
}

/** Cuts a stream into lines, until one of them is broken. */
function lines(take) {
  let rest = Buffer.alloc(0)
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      const broken = take(rest.subarray(0, end).toString('utf8'))
      rest = rest.subarray(end + 1)
      if (broken !== undefined) return broken
    }
    return rest.length > MAX_LINE ? 'the gateway’s answer does not end' : undefined
  }
}

function parse(text) {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

function errorText(error) {
  return oneLine(typeof error?.message === 'string' ? error.message : 'the gateway reports an error')
}
