'use strict'
/**
 * `hookhelm-hook` where the native client (native/hookhelm-hook.c) is not there: it does and says the same, and one
 * table of tests runs both. It loads `node:net`, `node:fs` and what these need anyway, since its start is most of what it costs.
 *
 * A gate is closed unless one whole, readable reply came in time: everything else ends in `noAnswer`.
 */

const MAX_PAYLOAD = 8 << 20
const MAX_LINE = MAX_PAYLOAD + (64 << 10)
const MAX_DEPTH = 512
const MAX_SPOOLED = 10_000
/** Of a reason, in bytes: it is shown to a model and to a person, on one line. */
const MAX_WHY = 500
const MAX_WITHIN_MS = 3_600_000
const MAX_SOCKET_PATH = process.platform === 'linux' ? 107 : 103
const USAGE = `usage: hookhelm-hook <agent> <event> --socket PATH [--spool DIR] [--within MS] [--observe]
                     [--refuse permission|permission-camel|decision] [--fail-open]
`
const UNREADABLE = "the gateway's answer cannot be read"
const ENDED = 'the gateway ended the connection without an answer'
const LINE_END = 0x0a
const CHUNK = 65_536
/** What spooling and printing may take when the budget is used up. */
const GRACE_MS = 500

/** Where the exit code is not honoured, a refusal is said on stdout, in the words of that event. */
const refusals = {
  permission: (message) => ({
    hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'deny', message } },
  }),
  'permission-camel': (message) => ({ behavior: 'deny', message }),
  decision: (reason) => ({ decision: 'block', reason }),
}

const options = {
  agent: undefined,
  event: undefined,
  socket: undefined,
  spool: undefined,
  withinMs: 55_000,
  observe: false,
  failOpen: false,
  refusal: undefined,
}
const state = {
  /** The payload on one line, once it is known to be one object; until then it is spooled as null. */
  native: undefined,
  tooLate: 'the payload did not end within',
  /** A refusal behind half of another text would be no JSON. */
  isPrinting: false,
  /** What stands between us and the gateway. */
  obstacle: undefined,
  connection: undefined,
  isConnected: false,
  request: undefined,
  isAsked: false,
  heard: [],
  heardBytes: 0,
  hasLine: false,
}

// First of all, so that whatever is wrong below, a gate stays closed.
process.on('uncaughtException', () => endAtOnce('hookhelm: the client crashed'))
const fs = require('node:fs')

readArguments(process.argv.slice(2))
for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'])
  process.on(name, () => {
    // Somebody ended us: that lets nothing through.
    options.failOpen = false
    noAnswer('interrupted by a signal')
  })
// The budget counts from the start of the process, which was a while ago.
setTimeout(
  () => noAnswer(`${state.tooLate} ${options.withinMs} ms`),
  Math.max(1, options.withinMs - sinceStart()),
)
// First, so that the gateway awakes while the payload is read.
reachGateway()
readPayload((wrong) => {
  state.tooLate = 'the gateway did not answer within'
  const obstacle = wrong ?? state.obstacle
  if (obstacle !== undefined) noAnswer(obstacle)
  state.request = requestOf(state.native)
  if (state.isConnected) ask()
})

/** Nobody listens for the end, and telling them takes a while. */
function exit(code) {
  process.reallyExit(code)
}

/** Milliseconds; `performance` would have to be loaded. */
function sinceStart() {
  return process.uptime() * 1_000
}

// ---- Arguments

function readArguments(words) {
  for (let i = 0; i < words.length; i++) {
    const word = words[i]
    if (['--socket', '--spool', '--within', '--refuse'].includes(word)) readOption(word, words[++i])
    else if (word === '--observe') options.observe = true
    else if (word === '--fail-open') options.failOpen = true
    else if (word === '--version') {
      const { version } = require('../../../package.json')
      exit(writeAll(1, Buffer.from(`hookhelm-hook ${version}\n`)) ? 0 : 2)
    } else readWord(word)
  }
  if (options.event === undefined) endWithUsage('an agent and an event are needed')
  if (options.socket === undefined) endWithUsage('--socket is needed')
  if (options.observe && (options.failOpen || options.refusal !== undefined))
    endWithUsage('--observe refuses nothing: it goes with neither --refuse nor --fail-open')
}

function readOption(word, value) {
  if (value === undefined || value === '') endWithUsage(`no value for ${word}`)
  if (word === '--socket') options.socket = value
  else if (word === '--spool') options.spool = value
  else if (word === '--within') {
    if (!/^[1-9]\d{0,6}$/.test(value) || Number(value) > MAX_WITHIN_MS)
      endWithUsage(`--within takes milliseconds, not ${value}`)
    options.withinMs = Number(value)
  } else {
    if (!Object.hasOwn(refusals, value)) endWithUsage(`--refuse does not know ${value}`)
    options.refusal = value
  }
}

/** Agents and events have plain names, so that nothing needs to be escaped in the lines they are put in. */
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

/** Calls back with what is wrong with it, or nothing. */
function readPayload(done) {
  const chunks = []
  let length = 0
  const take = (chunk) => {
    length += chunk.length
    // What cannot be used is read all the same: an agent that writes into a closed pipe may think little of it.
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
    // No pipe: a file or a terminal.
    return process.stdin.on('data', take)
  }
}

/** The text on one line, if it is exactly one object: one that closed early could add keys to our request. */
function lineOf(bytes) {
  const text = strictText(bytes)
  if (text === undefined || !text.trimStart().startsWith('{') || isDeep(text)) return undefined
  try {
    JSON.parse(text)
  } catch {
    return undefined
  }
  // Between tokens only: inside of a string a line break is no JSON.
  return text.includes('\n') || text.includes('\r') ? text.replace(/[\r\n]/g, ' ') : text
}

/** The text of bytes that are UTF-8 to the last one. */
function strictText(bytes) {
  return require('node:buffer').isUtf8(bytes) ? bytes.toString() : undefined
}

function isDeep(text) {
  // Looking at each character takes longer than anything else here, and hardly any payload could be as deep.
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
    else if (isBelieved(socket)) dial()
    else state.obstacle = `another user may be answering at ${socket}, who is not believed`
  } catch (error) {
    state.obstacle = obstacleOf(error)
  }
}

/**
 * Node cannot ask the kernel who listens there, so it looks whether anybody but us and root could have put the socket
 * in its place.
 */
function isBelieved(path) {
  const slash = path.lastIndexOf('/')
  const directory = slash < 0 ? '.' : path.slice(0, slash) || '/'
  const found = fs.lstatSync(directory)
  const isOurs = found.uid === 0 || found.uid === process.geteuid()
  return found.isDirectory() && isOurs && (found.mode & 0o022) === 0
}

function dial() {
  // With a buffer of our own, which spares the start of the streams that would otherwise be read.
  const onread = { buffer: Buffer.allocUnsafe(CHUNK), callback: (count, buffer) => hear(buffer, count) }
  const connection = require('node:net').connect({ path: options.socket, onread })
  state.connection = connection
  connection.once('connect', () => {
    state.isConnected = true
    if (state.request !== undefined) ask()
  })
  connection.once('end', () => meet(ENDED))
  connection.once('error', (error) => {
    // More callers than the gateway has taken in yet. The budget limits how often this is tried.
    if (!state.isConnected && error.code === 'EAGAIN') setTimeout(dial, 5)
    else meet(state.isConnected ? ENDED : obstacleOf(error))
  })
}

/** Before the payload is there an obstacle is only remembered: it is spooled with the payload. */
function meet(obstacle) {
  state.obstacle ??= obstacle
  if (state.request !== undefined) noAnswer(state.obstacle)
}

function obstacleOf({ code }) {
  return code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ENOTDIR'
    ? `no gateway listens at ${options.socket}; start it with "hookhelm up"`
    : `the socket ${options.socket} cannot be reached`
}

function requestOf(native) {
  const { agent, event } = options
  // What is left of the budget for the gateway, so that it can say itself that it took too long.
  const left = Math.max(0, options.withinMs - sinceStart())
  const withinMs = Math.max(1, Math.floor(left - Math.min(left / 10, 1_000)))
  const head = `{"hookhelm":1,"agent":"${agent}"}\n{"id":1,"event":"${event}","within_ms":${withinMs},"native":`
  return `${head}${native}}\n`
}

function ask() {
  state.isAsked = true
  state.connection.write(state.request)
  heedLines()
}

/** The pieces of a line are joined once it is whole: it may have very many. */
function hear(buffer, count) {
  const chunk = Buffer.from(buffer.subarray(0, count))
  state.heard.push(chunk)
  state.heardBytes += count
  state.hasLine ||= chunk.includes(LINE_END)
  if (state.isAsked) heedLines()
  return true
}

function heedLines() {
  if (state.hasLine) {
    let rest = Buffer.concat(state.heard)
    for (let end = rest.indexOf(LINE_END); end >= 0; end = rest.indexOf(LINE_END)) {
      heed(rest.subarray(0, end), rest.length > end + 1)
      rest = rest.subarray(end + 1)
    }
    state.heard = [rest]
    state.heardBytes = rest.length
    state.hasLine = false
  }
  if (state.heardBytes >= MAX_LINE) noAnswer(UNREADABLE)
}

/** Acts on a line. Comes back if the answer is still to come. */
function heed(bytes, moreFollows) {
  const line = strictText(bytes)
  if (line === undefined) noAnswer(UNREADABLE)
  const reply = replyOf(line)
  if (reply !== undefined && !moreFollows) printReply(reply)
  if (!isPending(line)) noAnswer(messageOf(line) ?? UNREADABLE)
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

/** `{"id":1,"pending":"…","until_ms":123}`: somebody is being asked. */
function isPending(line) {
  const start = '{"id":1,"pending":'
  if (!line.startsWith(start)) return false
  const who = stringAt(line, start.length)
  return who !== undefined && /^,"until_ms":(?:0|[1-9]\d{0,15})\}$/.test(line.slice(who.end))
}

/** `{"id":1,"error":{"code":"…","message":"…",…}}`: whatever follows, the message is all there is to tell. */
function messageOf(line) {
  const start = /^\{"id":(?:1|null),"error":\{"code":/.exec(line)
  if (start === null) return undefined
  const code = stringAt(line, start[0].length)
  if (code === undefined || !line.startsWith(',"message":', code.end)) return undefined
  return stringAt(line, code.end + ',"message":'.length)?.value
}

/** The JSON string that begins there. Half of a surrogate pair is no character: it could not be printed. */
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

/** Every way out but the one with a reply. */
function noAnswer(reason) {
  const why = oneLine(reason)
  const { observe, failOpen } = options
  const lost = spool(why, observe ? '' : failOpen ? '"opened":true,' : '"blocked":true,')
  if (observe) {
    if (lost !== undefined) complain(`hookhelm: ${why}; the event is lost: ${lost}`)
    exit(0)
  }
  const isLost = lost !== undefined && options.spool !== undefined
  if (failOpen) {
    complain(`hookhelm: ${why}; let through because of --fail-open${isLost ? ', not spooled' : ''}`)
    exit(0)
  }
  if (isLost) complain(`hookhelm: ${why}; not spooled: ${lost}`)
  endGate(`hookhelm: ${why}`, isLost)
}

function endGate(line, isTold) {
  if (options.refusal !== undefined && !state.isPrinting && printRefusal(line)) exit(0)
  if (!isTold) complain(line)
  exit(2)
}

/** Nothing can be relied on any more: no spool, no text that was put together. */
function endAtOnce(line) {
  if (options.observe) exit(0)
  if (!options.failOpen || state.isPrinting) endGate(line, false)
  complain(`${line}; let through because of --fail-open`)
  exit(0)
}

function printRefusal(reason) {
  state.isPrinting = true
  return writeAll(1, Buffer.from(`${JSON.stringify(refusals[options.refusal](reason))}\n`))
}

function complain(line) {
  writeAll(2, Buffer.from(`${line}\n`))
}

/** One line that is safe to show: control characters become spaces, the end is clipped. */
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
      // Whoever started us may have handed over an end that does not block.
      if (code !== 'EAGAIN' || sinceStart() > options.withinMs + GRACE_MS) return false
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)
    }
  }
  return true
}

// ---- The spool: what the gateway takes up later

/** Several of us may be the first. */
function makeIfMissing(directory) {
  try {
    fs.mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
}

/** Answers why the event is not kept, or nothing. `mark` is what became of it. */
function spool(why, mark) {
  const { agent, event, spool: directory } = options
  if (directory === undefined) return 'there is no --spool'
  let count = 0
  try {
    makeIfMissing(directory)
    count = fs.readdirSync(directory).length
  } catch {
    return 'the spool cannot be opened'
  }
  try {
    if (count >= MAX_SPOOLED) {
      fs.closeSync(fs.openSync(`${directory}/overflow`, 'a', 0o600))
      return 'the spool is full'
    }
    const at = Date.now()
    const head = `{"agent":"${agent}","event":"${event}","at":${at},"why":${JSON.stringify(why)},${mark}"native":`
    writeSpooled(directory, `${at}-${process.pid}.json`, Buffer.from(`${head}${state.native ?? null}}\n`))
    return undefined
  } catch {
    return 'the spool cannot be written'
  }
}

/** Written under another name first, so that the gateway never finds half a file. */
function writeSpooled(directory, name, text) {
  const fresh = `${directory}/.new-${name}`
  const file = fs.openSync(fresh, 'wx', 0o600)
  try {
    try {
      if (!writeAll(file, text)) throw new Error('disk')
      fs.fsyncSync(file)
    } finally {
      fs.closeSync(file)
    }
    fs.renameSync(fresh, `${directory}/${name}`)
  } catch (error) {
    fs.unlinkSync(fresh)
    throw error
  }
}
