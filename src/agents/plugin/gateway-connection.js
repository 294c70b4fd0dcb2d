import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import {
  approvalIn,
  checkSocketFolder,
  createLineReader,
  explainUnreachable,
  helloLine,
  MAX_LINE,
  MAX_PAYLOAD,
  requestLine,
  TEMPORARY,
  UNREACHABLE,
  writeSpoolFile,
} from '../client/gateway-link.cjs'

/** An observation must not delay the end of the host for long. */
const OBSERVE_MS = 2_000
/** The gateway reports that the time of a person is over; the plugin gives that line this long to arrive. */
const REPORT_MS = 1_000
/** Between two attempts to reach a gateway that restarts. */
const RETRY_MS = 100

/** Functions that spool the unanswered requests when the host exits. */
const unanswered = trackUnanswered()

/** The host may load this file more than once, but only one listener is needed. */
function trackUnanswered() {
  const name = Symbol.for('hookhelm.questions')
  if (process[name] === undefined) {
    process[name] = new Set()
    process.on('exit', () => {
      for (const spool of process[name]) spool('the agent ended before the gateway answered')
    })
  }
  return process[name]
}

/**
 * One connection to the gateway. It opens with the first event, and again after it was lost. It keeps the host alive only
 * while a request waits for its answer.
 */
export function openGatewayConnection(settings) {
  const spool = openSpool(settings)
  const observing = new Set()
  const waiting = new Map()
  let connection
  let count = 0

  function settle(id, finish) {
    const request = waiting.get(id)
    if (request === undefined) return
    waiting.delete(id)
    clearTimeout(request.timer)
    if (waiting.size === 0) connection?.socket.unref()
    finish(request)
  }

  /** Fails every request on a lost connection. */
  function dropConnection(lost, why, hasEnded) {
    if (connection === lost) connection = undefined
    lost.socket.destroy()
    for (const [id, { on }] of [...waiting]) {
      if (on === lost) settle(id, (request) => request.fail(why, hasEnded))
    }
  }

  function openConnection() {
    assertTrustedSocket(settings.socket)
    const opened = { socket: net.connect({ path: settings.socket }), isUsed: false }
    const read = createLineReader((bytes) => handleLine(bytes.toString('utf8')))
    opened.socket.on('data', (chunk) => {
      const problem = read(chunk)
      if (problem !== undefined) dropConnection(opened, problem, false)
    })
    opened.socket.on('error', ({ code }) =>
      dropConnection(opened, explainUnreachable(settings.socket, code), true),
    )
    opened.socket.on('close', () =>
      dropConnection(opened, 'the gateway ended the connection without an answer', true),
    )
    opened.socket.write(helloLine(settings.agent))
    opened.socket.unref()
    return opened
  }

  /** Handles one line of the gateway. Returns a problem that makes the connection unusable, or undefined. */
  function handleLine(text) {
    const answer = parseObject(text)
    const keys = Object.keys(answer ?? {})
      .sort()
      .join()
    if (keys === 'error,id' && answer.id === null) return errorText(answer.error)
    if (!Number.isInteger(answer?.id) || answer.id < 1 || answer.id > count)
      return 'the gateway answered a request that was never sent'
    if (keys === 'id,pending') return undefined
    if (keys === 'id,pending,until_ms') waiting.get(answer.id)?.waitForPerson(answer)
    else if (keys === 'id,reply') settle(answer.id, (request) => request.done(answer.reply))
    else if (keys === 'error,id')
      settle(answer.id, (request) =>
        request.fail(errorText(answer.error), TEMPORARY.includes(answer.error?.code) ? 'temporary' : false),
      )
    else return 'the gateway’s answer cannot be read'
    return undefined
  }

  /**
   * Sends a request. If an open connection turns out to be dead, retries once on a new one. A call that waits for a person
   * connects again until its time is over.
   */
  function send(event, native, call) {
    return new Promise((resolve, reject) => {
      const id = count + 1
      const { approval } = call
      const withinMs = Math.max(1, Math.ceil(call.waitEnd - performance.now()))
      const text = requestLine({ id, event, withinMs, native: JSON.stringify(native), approval })
      if (Buffer.byteLength(text) > MAX_LINE) throw new Error('the event is too large to be checked')
      connection ??= openConnection()
      count = id
      const on = connection
      const wasUsed = on.isUsed
      on.isUsed = true
      const late = () => settle(id, (request) => request.fail(lateText(call), false))
      const request = {
        on,
        done: resolve,
        fail(why, hasEnded) {
          const isOpen = hasEnded !== false && call.end - performance.now() > RETRY_MS
          if (call.approval !== undefined && isOpen) resolve(sendAgain(event, native, call))
          else if (hasEnded === true && wasUsed && call.mayRetry && isOpen)
            resolve(send(event, native, { ...call, mayRetry: false }))
          else reject(hasEnded === true ? unreachable(why) : new Error(why))
        },
        waitForPerson({ pending, until_ms }) {
          call.waitText = oneLine(pending)
          call.approval ??= approvalIn(String(pending))
          // Later, but never beyond what the host waits.
          const now = performance.now()
          call.end = Math.max(call.end, Math.min(now + until_ms - Date.now() + REPORT_MS, call.waitEnd) || 0)
          clearTimeout(request.timer)
          request.timer = setTimeout(late, call.end - now)
        },
        timer: setTimeout(late, call.end - performance.now()),
      }
      waiting.set(id, request)
      on.socket.ref()
      on.socket.write(text)
    })
  }

  /** The gateway may be restarting. What is no gateway ends the call. */
  async function sendAgain(event, native, call) {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      if (performance.now() >= call.end) throw new Error(lateText(call))
      if (!fs.existsSync(settings.socket)) continue
      return send(event, native, call)
    }
  }

  /** Returns the reply, or why there is no valid one. */
  async function request(event, native, { within, read, spoolIt, isGate = false }) {
    const now = performance.now()
    const waitEnd = now + Math.max(settings.wait ?? 0, within)
    const call = { end: now + within, waitEnd: isGate ? waitEnd : now + within, mayRetry: true }
    unanswered.add(spoolIt)
    try {
      return { reply: read(await send(event, native, call)) }
    } catch (error) {
      const code = error?.code === UNREACHABLE ? { code: UNREACHABLE } : {}
      return { why: oneLine(error?.message), code, isAsked: call.waitText !== undefined }
    } finally {
      unanswered.delete(spoolIt)
    }
  }

  async function requestOrSpool(event, native, read, within) {
    const spoolIt = (why, code) => spool.write(event, native, why, code)
    const { reply, why, code } = await request(event, native, { within, read, spoolIt })
    if (reply === undefined) spoolIt(why, code)
    return reply ?? {}
  }

  return {
    /** Throws if there is no valid reply, unless the user chose `--fail-open`. */
    async gate(event, native, read) {
      const spoolIt = (why, code, isAsked) => {
        const isOpened = settings.failOpen === true && isAsked !== true
        spool.write(event, native, why, { ...code, ...(isOpened ? { opened: true } : { blocked: true }) })
      }
      const limits = { within: settings.within, read, spoolIt, isGate: true }
      const { reply, why, code, isAsked } = await request(event, native, limits)
      if (reply !== undefined) return reply
      spoolIt(why, code, isAsked)
      // A call that a person is asked about does not pass unanswered.
      if (settings.failOpen !== true || isAsked) throw new Error(`hookhelm: ${why}`)
      spool.warnOnce(`hookhelm: ${event} passes unchecked because of --fail-open: ${why}`)
      return {}
    },
    /** For events that cannot block but whose reply may change something. Never throws. */
    consult: (event, native, read) => requestOrSpool(event, native, read, settings.within),
    /** For observations. The host need not wait. */
    observe(event, native, read) {
      const done = requestOrSpool(event, native, read, Math.min(settings.within, OBSERVE_MS))
      observing.add(done)
      done.finally(() => observing.delete(done))
      return done
    },
    warnOnce: spool.warnOnce,
    /** Waits for the observations. */
    async flush() {
      await Promise.all(observing)
    },
    close() {
      connection?.socket.destroy()
    },
  }
}

function lateText({ waitText }) {
  return waitText === undefined
    ? 'the gateway did not answer in time'
    : `no person answered in time; the call ${waitText}`
}

function parseObject(text) {
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

/** Stores events that could not be delivered, one file each. The gateway reads them later. */
function openSpool({ agent, spool: folder }) {
  let lastTime = 0
  let hasWarned = false

  /** Prints one line per process, because the terminal belongs to the host. */
  function warnOnce(text) {
    if (hasWarned) return
    hasWarned = true
    try {
      fs.writeSync(2, `${oneLine(text)}\n`)
    } catch {}
  }

  return {
    warnOnce,
    /** Never throws. */
    write(event, native, why, mark) {
      if (!folder) return
      // Several events of one process may share a millisecond, and each needs a file name of its own.
      const at = Date.now()
      lastTime = Math.max(at, lastTime + 1)
      const record = { agent, event, at, why: oneLine(why), ...mark, native: withinLimit(native) }
      const problem = writeSpoolFile(fs, folder, `${lastTime}-${process.pid}.json`, JSON.stringify(record))
      if (problem !== undefined) warnOnce(`hookhelm: an event is lost: ${problem}`)
    },
  }
}

function withinLimit(native) {
  try {
    return Buffer.byteLength(JSON.stringify(native)) > MAX_PAYLOAD ? null : native
  } catch {
    return null
  }
}

/** Throws unless only this user and root can have created the socket: another user could answer instead of the gateway. */
function assertTrustedSocket(socketPath) {
  const uid = process.getuid?.()
  if (uid === undefined) throw new Error('this system cannot show who owns the gateway’s socket')
  const problem = checkSocketFolder(statOrThrow(fs.statSync, path.dirname(socketPath), socketPath), uid)
  if (problem === 'owner') throw new Error('the directory of the gateway’s socket belongs to another user')
  if (problem === 'mode') throw new Error('other users may write to the directory of the gateway’s socket')
  const socket = statOrThrow(fs.lstatSync, socketPath, socketPath)
  if (!socket.isSocket()) throw new Error('the gateway’s socket path is not a socket')
  if (socket.uid !== uid && socket.uid !== 0) throw new Error('the gateway’s socket belongs to another user')
}

function unreachable(why) {
  return Object.assign(new Error(why), { code: UNREACHABLE })
}

function statOrThrow(stat, file, socketPath) {
  try {
    return stat(file)
  } catch (error) {
    throw unreachable(explainUnreachable(socketPath, error.code))
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g

/** One line for a terminal or a model: no control characters, limited length, never empty. */
export function oneLine(text) {
  const line = String(text ?? '').replace(control, ' ')
  return line.trim().slice(0, 2_000) || 'no answer'
}
