'use strict'
// Shared by the Node client and the plugins. The build puts it into the client, and `bundlePlugin` into each plugin, so
// that both stay one file. It loads nothing itself, because loading modules is most of what the client costs. Each side
// opens its own connection: the client reads into one buffer to start fast, and the plugins share a connection that they
// open again when it is lost.

/** The largest payload of an event, and the largest line on the socket, in bytes. */
const MAX_PAYLOAD = 8 * 1_048_576
const MAX_LINE = MAX_PAYLOAD + 65_536
const MAX_SPOOLED = 10_000
const LINE_END = 0x0a

/** The first line on a connection. By the process the gateway sees that a caller has ended. */
function helloLine(agent) {
  return `{"hookhelm":1,"agent":${JSON.stringify(agent)},"pid":${process.pid}}\n`
}

/** The code of an event that is spooled because the gateway did not listen or ended the connection. */
const UNREACHABLE = 'gateway.unreachable'

/** Errors of a gateway that can answer soon. */
const TEMPORARY = ['gateway.stopping', 'gateway.busy', 'gateway.rate_limited']

/**
 * One request. `native` is the payload as JSON on one line, `approval` the question that the call waited for when its
 * connection was lost: the gateway then asks no second time. `HOOKHELM_RUN` proves the run that the agent works for: a runner
 * puts it into the environment of the agents that it starts.
 */
function requestLine({ id, event, withinMs, native, approval }) {
  const again = approval === undefined ? '' : `"approval_id":"${approval}",`
  const { HOOKHELM_RUN: proof = '' } = process.env
  const run = proof === '' ? '' : `"run":${JSON.stringify(proof)},`
  return `{"id":${id},"event":${JSON.stringify(event)},"within_ms":${withinMs},${again}${run}"native":${native}}\n`
}

/** Withdraws a request that waits for a person. */
function cancelLine(id) {
  return `{"id":${id},"cancel":true}\n`
}

/** The name of the question at the end of the text of a pending line. */
function approvalIn(text) {
  return /apr_[0-9a-f]{16}$/.exec(text)?.[0]
}

/**
 * Splits what the gateway sends into lines. `handleLine` gets the bytes of each line, and whether more bytes follow. It
 * returns a problem, or undefined to continue. The reader returns that problem, or its own if a line is too long.
 */
function createLineReader(handleLine) {
  let chunks = []
  let size = 0
  return (chunk) => {
    chunks.push(chunk)
    size += chunk.length
    // Join the chunks only when a line is complete: it may have very many.
    if (chunk.includes(LINE_END)) {
      let rest = Buffer.concat(chunks)
      for (let end = rest.indexOf(LINE_END); end >= 0; end = rest.indexOf(LINE_END)) {
        const problem = handleLine(rest.subarray(0, end), rest.length > end + 1)
        if (problem !== undefined) return problem
        rest = rest.subarray(end + 1)
      }
      chunks = [rest]
      size = rest.length
    }
    return size >= MAX_LINE ? 'the gateway’s answer does not end' : undefined
  }
}

/**
 * Node cannot ask the kernel which user listens on a socket. Instead, only this user and root may be able to put a socket
 * into its folder. Returns what is wrong with the folder, or undefined.
 */
function checkSocketFolder(folder, uid) {
  if (folder.uid !== uid && folder.uid !== 0) return 'owner'
  return folder.isDirectory() && (folder.mode & 0o022) === 0 ? undefined : 'mode'
}

/** Why there is no connection to the gateway. Every client says the same, so that people know what to do. */
function explainUnreachable(socket, code) {
  return code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ENOTDIR'
    ? `no gateway listens at ${socket}; start it with "hookhelm up"`
    : `the socket ${socket} cannot be reached`
}

/** Stores an event until the gateway reads it. Returns why it could not, or undefined. */
function writeSpoolFile(fs, folder, name, text) {
  let count = 0
  try {
    createSpoolFolder(fs, folder)
    count = fs.readdirSync(folder).length
  } catch {
    return 'the spool cannot be opened'
  }
  try {
    if (count < MAX_SPOOLED) {
      writeThenRename(fs, folder, name, text)
      return undefined
    }
    fs.closeSync(fs.openSync(`${folder}/overflow`, 'a', 0o600))
    return 'the spool is full'
  } catch {
    return 'the spool cannot be written'
  }
}

/** Creates only the last folder of the path. Several processes may do so at the same time. */
function createSpoolFolder(fs, folder) {
  try {
    fs.mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
}

/** The gateway must never find half a file. */
function writeThenRename(fs, folder, name, text) {
  const draft = `${folder}/.new-${name}`
  const file = fs.openSync(draft, 'wx', 0o600)
  try {
    try {
      fs.writeFileSync(file, text)
      fs.fsyncSync(file)
    } finally {
      fs.closeSync(file)
    }
    fs.renameSync(draft, `${folder}/${name}`)
  } catch (error) {
    fs.unlinkSync(draft)
    throw error
  }
}

module.exports = {
  MAX_LINE,
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
}
