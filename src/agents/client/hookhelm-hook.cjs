'use strict'
/**
 * The client for machines without the native one (native/hookhelm-hook.c). Both behave the same, and one table of tests
 * runs both. It loads only `node:net` and `node:fs`, because starting is most of what it costs.
 *
 * A gate blocks unless one complete, valid reply arrives in time. Every other path ends in `noAnswer`.
 */

const MAX_DEPTH = 512
/** The longest reason, in bytes. Models and people read it, on one line. */
const MAX_WHY = 500
const MAX_WITHIN_MS = 3_600_000
const MAX_SOCKET_PATH = process.platform === 'linux' ? 107 : 103
const USAGE = `usage: hookhelm-hook <agent> <event> --socket PATH [--spool DIR] [--within MS] [--wait MS]
                     [--observe] [--refuse FORMAT] [--fail-open]
FORMAT is permission, permission-camel, permission-any, decision, prompt or tool.
`
const UNREADABLE = "the gateway's answer cannot be read"
const ENDED = 'the gateway ended the connection without an answer'
const CHUNK = 65_536
/** Extra time for spooling and printing after the budget is used up. */
const GRACE_MS = 500
/** The gateway reports that the time of a person is over; the client gives that line this long to arrive. */
const REPORT_MS = 1_000
/** Between two attempts to reach a gateway that restarts. */
const RETRY_MS = 100

/** Refusals on stdout, for events where the agent ignores the exit code or hides the reason. */
const refusals = {
  permission: (message) => ({
    hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'deny', message } },
  }),
  'permission-camel': (message) => ({ behavior: 'deny', message }),
  'permission-any': (message) => ({
    ...refusals['permission-camel'](message),
    ...refusals.permission(message),
  }),
  decision: (reason) => ({ decision: 'block', reason }),
  prompt: (message) => ({ decision: 'block', reason: message, continue: false, user_message: message }),
  tool: (message) => ({
    permission: 'deny',
    user_message: message,
    permissionDecision: 'deny',
    permissionDecisionReason: message,
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: message,
    },
  }),
}

const options = {
  agent: undefined,
  event: undefined,
  socket: undefined,
  spool: undefined,
  withinMs: 55_000,
  waitMs: 0,
  observe: false,
  failOpen: false,
  refusal: undefined,
}
const state = {
  /** The payload on one line, once it is known to be one object. Until then the spool gets null. */
  native: undefined,
  tooLate: 'the payload did not end within',
  /** Once set, no refusal may follow on stdout: the whole output would not be JSON. */
  isPrinting: false,
  /** Why the gateway cannot be reached. */
  obstacle: undefined,
  /** Another user may be listening in its place. */
  isUntrusted: false,
  connection: undefined,
  isConnected: false,
  request: undefined,
  isAsked: false,
  /** What the gateway sent before the request. */
  early: [],
  /** The first question about this call. A gateway that restarted knows the call by it. */
  approval: undefined,
  /** What the gateway said last about the wait. */
  waitText: undefined,
  /** The process that started this one. */
  parent: process.ppid,
  /** The processes up to the agent. */
  callers: undefined,
  /** When the budget ends, in milliseconds since the start. */
  endsAt: 0,
  timer: undefined,
}

// Before everything else, so that a gate blocks whatever goes wrong below.
process.on('uncaughtException', () => endAtOnce('hookhelm: the client crashed'))
const fs = require('node:fs')
const {
  MAX_PAYLOAD,
  TEMPORARY,
  UNREACHABLE,
  approvalIn,
  cancelLine,
  checkSocketFolder,
  createLineReader,
  explainUnreachable,
  helloLine,
  requestLine,
  writeSpoolFile,
} = require('./gateway-link.cjs')
const { findCallers, watchCallers } = require('./caller-watch.cjs')
let readLines = createLineReader(handleLine)

readArguments(process.argv.slice(2))
for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'])
  process.on(name, () => {
    // A killed client must not let a call pass.
    options.failOpen = false
    if (state.waitText !== undefined && state.connection !== undefined) leave('interrupted by a signal')
    else noAnswer('interrupted by a signal')
  })
// The budget counts from the start of the process.
setEnd(options.withinMs)
// Connect first, so that the gateway accepts while the payload is read.
reachGateway()
readPayload((wrong) => {
  state.tooLate = 'the gateway did not answer within'
  const obstacle = wrong ?? state.obstacle
  if (obstacle !== undefined) noAnswer(obstacle)
  state.request = requestOf(state.native)
  if (state.isConnected) ask()
})

/** Sets when the client gives up, in milliseconds since its start. */
function setEnd(ms) {
  clearTimeout(state.timer)
  state.endsAt = ms
  state.timer = setTimeout(endLate, Math.max(1, ms - sinceStart()))
}

function endLate() {
  if (state.waitText === undefined) noAnswer(`${state.tooLate} ${options.withinMs} ms`)
  noAnswer(`no person answered within ${options.waitMs} ms; the call ${state.waitText}`)
}

/** `process.exit` would first emit events that nothing listens to. */
function exit(code) {
  process.reallyExit(code)
}

/** Milliseconds since the process started. `performance` would have to be loaded. */
function sinceStart() {
  return process.uptime() * 1_000
}

// ---- Arguments

function readArguments(words) {
  for (let i = 0; i < words.length; i++) {
    const word = words[i]
    if (['--socket', '--spool', '--within', '--wait', '--refuse'].includes(word)) readOption(word, words[++i])
    else if (word === '--observe') options.observe = true
    else if (word === '--fail-open') options.failOpen = true
    else if (word === '--version') {
      const { version } = require('../../../package.json')
      exit(writeAll(1, Buffer.from(`hookhelm-hook ${version}\n`)) ? 0 : 2)
    } else readWord(word)
  }
  if (options.event === undefined) endWithUsage('an agent and an event are needed')
  if (options.socket === undefined) endWithUsage('--socket is needed')
  options.waitMs = Math.max(options.waitMs, options.withinMs)
  if (options.observe && (options.failOpen || options.refusal !== undefined))
    endWithUsage('--observe refuses nothing: it goes with neither --refuse nor --fail-open')
}

function readOption(word, value) {
  if (value === undefined || value === '') endWithUsage(`no value for ${word}`)
  if (word === '--socket') options.socket = value
  else if (word === '--spool') options.spool = value
  else if (word === '--within') options.withinMs = milliseconds(word, value)
  else if (word === '--wait') options.waitMs = milliseconds(word, value)
  else {
    if (!Object.hasOwn(refusals, value)) endWithUsage(`--refuse does not know ${value}`)
    options.refusal = value
  }
}

function milliseconds(word, value) {
  if (!/^[1-9]\d{0,6}$/.test(value) || Number(value) > MAX_WITHIN_MS)
    endWithUsage(`${word} takes milliseconds, not ${value}`)
  return Number(value)
}

/** Names of agents and events need no escaping in JSON. */
function readWord(word) {
  if (word.startsWith('-')) endWithUsage(`unknown option ${word}`)
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,63}$/.test(word)) endWithUsage(`no name of an agent or event: ${word}`)
  if (options.agent === undefined) options.agent = word
  else if (options.event === undefined) options.event = word
  else endWithUsage(`one word too many: ${word}`)
}

function endWithUsage(problem) {
  writeAll(2, Buffer.from(`hookhelm-hook: ${oneLine(problem)}\n${USAGE}`))
  exit(2)
}

// ---- The payload

/** Calls back with the problem of the payload, or with undefined. */
function readPayload(done) {
  const chunks = []
  let length = 0
  const take = (chunk) => {
    length += chunk.length
    // Read on when it is too large: the agent must not write into a closed pipe.
    if (length <= MAX_PAYLOAD) chunks.push(Buffer.from(chunk))
    return true
  }
  const end = () => {
    if (length > MAX_PAYLOAD) return done('the payload has more than 8 MiB')
    state.native = lineOf(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
    done(state.native === undefined ? 'the payload is not one JSON object' : undefined)
  }
  const stdin = openStdin(take)
  stdin.once('end', end)
  stdin.once('error', end)
}

function openStdin(take) {
  const onread = {
    buffer: Buffer.allocUnsafe(CHUNK),
    callback: (count, buffer) => take(buffer.subarray(0, count)),
  }
  try {
    const { Socket } = require('node:net')
    return new Socket({ fd: 0, writable: false, onread })
  } catch {
    // Stdin is a file or a terminal.
    return process.stdin.on('data', take)
  }
}

/** The text on one line, if it is exactly one JSON object. Anything else could add keys to the request. */
function lineOf(bytes) {
  const text = strictText(bytes)
  if (text === undefined || !text.trimStart().startsWith('{') || isDeep(text)) return undefined
  try {
    JSON.parse(text)
  } catch {
    return undefined
  }
  // Valid JSON has line breaks only between tokens.
  return text.includes('\n') || text.includes('\r') ? text.replace(/[\r\n]/g, ' ') : text
}

/** Returns undefined if the bytes are not UTF-8. */
function strictText(bytes) {
  return require('node:buffer').isUtf8(bytes) ? bytes.toString() : undefined
}

function isDeep(text) {
  // A quick bound first: the loop over all characters is slow.
  if (text.split('{').length + text.split('[').length <= MAX_DEPTH) return false
  let depth = 0
  let isInString = false
  for (let i = 0; i < text.length; i++) {
    const letter = text[i]
    if (letter === '"') isInString = !isInString
    else if (isInString) i += letter === '\\' ? 1 : 0
    else if (letter === '{' || letter === '[') {
      if (++depth > MAX_DEPTH) return true
    } else if (letter === '}' || letter === ']') depth--
  }
  return false
}

// ---- The gateway

function reachGateway() {
  const { socket } = options
  const tooLong = Buffer.byteLength(socket) > MAX_SOCKET_PATH
  try {
    if (tooLong) state.obstacle = obstacleOf({})
    else if (isTrusted(socket)) connectToGateway()
    else {
      state.isUntrusted = true
      state.obstacle = `another user may be answering at ${socket}, who is not trusted`
    }
  } catch (error) {
    state.obstacle = obstacleOf(error)
  }
}

/** Waits for a gateway that restarts while it asks a person. The budget ends it. */
function reachAgain() {
  state.isConnected = false
  state.isAsked = false
  setTimeout(() => {
    readLines = createLineReader(handleLine)
    state.request = requestOf(state.native)
    state.obstacle = undefined
    reachGateway()
    // Without its folder the socket cannot be there yet; a folder of another user is no gateway.
    if (state.isUntrusted) noAnswer(state.obstacle)
    if (state.obstacle !== undefined) reachAgain()
  }, RETRY_MS)
}

function isTrusted(path) {
  const slash = path.lastIndexOf('/')
  const folder = slash < 0 ? '.' : path.slice(0, slash) || '/'
  return checkSocketFolder(fs.lstatSync(folder), process.geteuid()) === undefined
}

function readChunk(count, buffer) {
  receive(Buffer.from(buffer.subarray(0, count)))
  return true
}

function connectToGateway() {
  // An own buffer avoids the start-up cost of readable streams.
  const onread = { buffer: Buffer.allocUnsafe(CHUNK), callback: readChunk }
  const connection = require('node:net').connect({ path: options.socket, onread })
  state.connection = connection
  connection.once('connect', () => {
    state.isConnected = true
    if (state.request !== undefined) ask()
  })
  connection.once('end', () => loseConnection(connection, ENDED))
  connection.once('error', (error) => {
    // The gateway's backlog is full. Retry until the budget is used up.
    if (!state.isConnected && error.code === 'EAGAIN') setTimeout(connectToGateway, 5)
    else loseConnection(connection, state.isConnected ? ENDED : obstacleOf(error))
  })
}

function loseConnection(connection, obstacle) {
  if (state.connection !== connection) return
  if (state.approval === undefined) return reportObstacle(obstacle)
  state.connection = undefined
  connection.destroy()
  reachAgain()
}

/** Before the payload is complete, only remember the obstacle: the spool needs the payload. */
function reportObstacle(obstacle) {
  state.obstacle ??= obstacle
  if (state.request !== undefined) noAnswer(state.obstacle)
}

function obstacleOf({ code }) {
  return explainUnreachable(options.socket, code)
}

function requestOf(native) {
  const { agent, event } = options
  // The gateway gets a little less than the time that is left, so that it can report itself that the time is over.
  const left = Math.max(0, options.waitMs - sinceStart())
  const withinMs = Math.max(1, Math.floor(left - Math.min(left / 10, 1_000)))
  return helloLine(agent) + requestLine({ id: 1, event, withinMs, native, approval: state.approval })
}

function ask() {
  state.isAsked = true
  state.connection.write(state.request)
  // While the gateway decides, so that it takes no time. An observation waits for no person.
  if (!options.observe) state.callers ??= findCallers(state.parent, process.argv[1].replace(/.*\//, ''))
  if (state.early.length > 0) receive(Buffer.concat(state.early))
}

function receive(chunk) {
  if (!state.isAsked) state.early.push(chunk)
  else if (readLines(chunk) !== undefined) noAnswer(UNREADABLE)
}

/** Handles one line of the gateway. Ends the process, or returns if the answer is still to come. */
function handleLine(bytes, moreFollows) {
  const line = strictText(bytes)
  if (line === undefined) noAnswer(UNREADABLE)
  const reply = replyOf(line)
  if (reply !== undefined && !moreFollows) printReply(reply)
  const pending = pendingOf(line)
  if (pending !== undefined) return waitForPerson(pending)
  const error = errorOf(line)
  if (state.approval === undefined || !TEMPORARY.includes(error?.code)) noAnswer(error?.message || UNREADABLE)
  loseConnection(state.connection, ENDED)
}

/** A call that a person is asked about does not pass unanswered, whatever --fail-open says. */
function waitForPerson({ text, untilMs }) {
  options.failOpen = false
  if (state.waitText === undefined)
    watchCallers(state.parent, state.callers ?? [], () => leave('the caller left before a person answered'))
  state.waitText = oneLine(text)
  state.approval ??= approvalIn(text)
  // Moves the end to the time that the gateway names, but never closer, and never beyond --wait.
  const end = Math.min(sinceStart() + untilMs - Date.now() + REPORT_MS, options.waitMs)
  if (end > state.endsAt) setEnd(end)
}

/** Withdraws the question, so that no person approves a call that nothing waits for. The gateway has recorded the event. */
function leave(why) {
  const end = () => endAtOnce(`hookhelm: ${why}`)
  if (state.connection === undefined) end()
  else state.connection.write(cancelLine(1), end)
}

/** `{"id":1,"reply":{"exit":0,"stdout":"…","stderr":"…"}}`, to the byte, but for how characters are escaped. */
function replyOf(line) {
  const start = '{"id":1,"reply":{"exit":'
  if (!line.startsWith(start)) return undefined
  const comma = line.indexOf(',', start.length)
  const code = Number.parseInt(line.slice(start.length, comma), 10)
  if (!(code >= 0 && code <= 255) || !line.startsWith(`${start}${code},"stdout":`)) return undefined
  const out = stringAt(line, comma + ',"stdout":'.length)
  if (out === undefined || !line.startsWith(',"stderr":', out.end)) return undefined
  const err = stringAt(line, out.end + ',"stderr":'.length)
  return err !== undefined && line.slice(err.end) === '}}'
    ? { code, out: out.value, err: err.value }
    : undefined
}

/** `{"id":1,"pending":"…","until_ms":123}`: a person is being asked. */
function pendingOf(line) {
  const start = '{"id":1,"pending":'
  if (!line.startsWith(start)) return undefined
  const who = stringAt(line, start.length)
  const until = who && /^,"until_ms":(0|[1-9]\d{0,15})\}$/.exec(line.slice(who.end))
  return until ? { text: who.value, untilMs: Number(until[1]) } : undefined
}

/** `{"id":1,"error":{"code":"…","message":"…",…}}`. An empty message explains nothing. */
function errorOf(line) {
  const start = /^\{"id":(?:1|null),"error":\{"code":/.exec(line)
  if (start === null) return undefined
  const code = stringAt(line, start[0].length)
  if (code === undefined || !line.startsWith(',"message":', code.end)) return undefined
  const message = stringAt(line, code.end + ',"message":'.length)
  return message && { code: code.value, message: message.value }
}

/** The JSON string that starts there. A lone surrogate is refused, because it cannot be printed. */
function stringAt(line, start) {
  if (line[start] !== '"') return undefined
  for (let end = line.indexOf('"', start + 1); end >= 0; end = line.indexOf('"', end + 1)) {
    let escapes = 0
    while (line[end - 1 - escapes] === '\\') escapes++
    if (escapes % 2 === 1) continue
    try {
      const value = JSON.parse(line.slice(start, end + 1))
      return value.isWellFormed() ? { value, end: end + 1 } : undefined
    } catch {
      return undefined
    }
  }
  return undefined
}

// ---- The ends

function printReply({ code, out, err }) {
  state.isPrinting = true
  if (!writeAll(1, Buffer.from(out))) {
    if (options.observe) exit(0)
    options.failOpen = false
    endAtOnce('hookhelm: the answer could not be written to stdout')
  }
  writeAll(2, Buffer.from(err))
  exit(code)
}

/** Ends the client without a reply of the gateway. */
function noAnswer(reason) {
  const why = oneLine(reason)
  const { observe, failOpen } = options
  const isDown = reason === state.obstacle && !state.isUntrusted
  const code = isDown ? `"code":"${UNREACHABLE}",` : ''
  const lost = spool(why, `${code}${observe ? '' : failOpen ? '"opened":true,' : '"blocked":true,'}`)
  if (observe) {
    if (lost !== undefined) printError(`hookhelm: ${why}; the event is lost: ${lost}`)
    exit(0)
  }
  const isLost = lost !== undefined && options.spool !== undefined
  if (failOpen) {
    printError(`hookhelm: ${why}; let through because of --fail-open${isLost ? ', not spooled' : ''}`)
    exit(0)
  }
  if (isLost) printError(`hookhelm: ${why}; not spooled: ${lost}`)
  endGate(`hookhelm: ${why}`, isLost)
}

function endGate(line, isTold) {
  if (options.refusal !== undefined && !state.isPrinting && printRefusal(line)) exit(0)
  if (!isTold) printError(line)
  exit(2)
}

/** For failures of the client itself: it neither spools nor builds texts. */
function endAtOnce(line) {
  if (options.observe) exit(0)
  if (!options.failOpen || state.isPrinting) endGate(line, false)
  printError(`${line}; let through because of --fail-open`)
  exit(0)
}

function printRefusal(reason) {
  state.isPrinting = true
  return writeAll(1, Buffer.from(`${JSON.stringify(refusals[options.refusal](reason))}\n`))
}

function printError(line) {
  writeAll(2, Buffer.from(`${line}\n`))
}

/** One line without control characters, clipped. */
function oneLine(text) {
  const bytes = Buffer.from(text.replace(/\p{Cc}/gu, ' '))
  if (bytes.length <= MAX_WHY) return bytes.toString()
  let end = MAX_WHY - 3
  while ((bytes[end] & 0xc0) === 0x80) end--
  return `${bytes.subarray(0, end)}…`
}

function writeAll(file, bytes) {
  let written = 0
  while (written < bytes.length) {
    try {
      written += fs.writeSync(file, bytes, written)
    } catch ({ code }) {
      // The agent may have opened the pipe in non-blocking mode.
      if (code !== 'EAGAIN' || sinceStart() > state.endsAt + GRACE_MS) return false
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)
    }
  }
  return true
}

// ---- The spool: events that the gateway reads later

/** Returns why the event is not spooled, or undefined. `mark` is its code and outcome as JSON members. */
function spool(why, mark) {
  const { agent, event, spool: folder } = options
  if (folder === undefined) return 'there is no --spool'
  const at = Date.now()
  const head = `{"agent":"${agent}","event":"${event}","at":${at},"why":${JSON.stringify(why)},${mark}"native":`
  return writeSpoolFile(fs, folder, `${at}-${process.pid}.json`, `${head}${state.native ?? null}}\n`)
}
