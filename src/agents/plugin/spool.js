import fs from 'node:fs'
import path from 'node:path'
import { oneLine } from './one-line.js'

const MAX_FILES = 10_000
const MAX_BYTES = 8 * 1_048_576

/** Where events wait that could not be delivered: one file each, which the gateway takes up later. */
export function openSpool({ agent, spool: folder }) {
  let last = 0
  let hasSpoken = false

  /** One line in the life of the host: its terminal is not ours. */
  function say(text) {
    if (hasSpoken) return
    hasSpoken = true
    try {
      fs.writeSync(2, `${oneLine(text)}\n`)
    } catch {}
  }

  function write(record) {
    makeFolder(folder)
    if (fs.readdirSync(folder).length > MAX_FILES) {
      fs.closeSync(fs.openSync(path.join(folder, 'overflow'), 'a', 0o600))
      return say('hookhelm: too many events wait to be delivered, this one is lost')
    }
    // Many events of one process may fall into one millisecond, and each has a file of its own.
    last = Math.max(record.at, last + 1)
    const name = `${last}-${process.pid}.json`
    const draft = path.join(folder, `.new-${name}`)
    const file = fs.openSync(draft, 'wx', 0o600)
    try {
      fs.writeSync(file, JSON.stringify(record))
      fs.fsyncSync(file)
    } finally {
      fs.closeSync(file)
    }
    fs.renameSync(draft, path.join(folder, name))
  }

  return {
    say,
    /** Never throws: the host has nothing to do with it. */
    keep(event, native, why, mark) {
      if (!folder) return
      try {
        write({ agent, event, at: Date.now(), why: oneLine(why), ...mark, native: fitting(native) })
      } catch {
        say('hookhelm: an event could be neither delivered nor kept')
      }
    },
  }
}

/** Only itself: whatever lies above it was made when the plugin was. */
function makeFolder(folder) {
  try {
    fs.mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
}

function fitting(native) {
  try {
    return Buffer.byteLength(JSON.stringify(native)) > MAX_BYTES ? null : native
  } catch {
    return null
  }
}
