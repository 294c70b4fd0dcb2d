import fs from 'node:fs'
import { MAX_PAYLOAD, writeSpoolFile } from '../client/gateway-link.cjs'
import { oneLine } from './one-line.js'

/** Stores events that could not be delivered, one file each. The gateway reads them later. */
export function openSpool({ agent, spool: folder }) {
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
