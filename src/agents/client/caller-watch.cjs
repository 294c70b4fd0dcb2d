'use strict'
// Whether the caller of the Node client still waits for its answer, as in native/hookhelm-hook.c. Node cannot see that nobody
// reads stdout any more, and outside of Linux only the death of the process that started the client.

/** Between two looks. */
const LOOK_MS = 500
const MAX_CALLERS = 8
/** Enough of a command line to recognise it: arguments may be as long as a prompt. */
const MAX_WORDS = 1_024

/**
 * The line from the client up to its agent: the shells that start the client, whose arguments name it, and the first process
 * above them. Who started the agent does not matter: it may end before the agent does.
 */
function findCallers(parent, name) {
  const callers = []
  let isAgent = false
  for (let id = parent; id > 1 && callers.length < MAX_CALLERS; ) {
    const caller = lookUp(id)
    if (caller === undefined) break
    if (isAgent && !isStartedAgain(callers.at(-1), caller)) break
    isAgent ||= !caller.words.includes(name)
    callers.push(caller)
    id = caller.parent
  }
  return callers
}

/** The outer process started its own program again, as an agent does that sets the memory of its runtime. */
function isStartedAgain(inner, outer) {
  const rest = outer.words.slice(outer.words.indexOf('\0') + 1, MAX_WORDS)
  return inner.group === outer.group && rest !== '' && inner.words.includes(rest)
}

/** Undefined if nothing is known about the process: only Linux has these files. */
function lookUp(id) {
  const { readFileSync } = require('node:fs')
  try {
    const stat = readFileSync(`/proc/${id}/stat`, 'latin1')
    // The name is in parentheses, and may hold any character.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state, parent, group] = fields
    const words = readFileSync(`/proc/${id}/cmdline`, 'latin1')
    return { id, state, parent: Number(parent), group, started: fields[19], words }
  } catch {
    return undefined
  }
}

function hasEnded({ id, started }) {
  if (!isAlive(id)) return true
  const now = lookUp(id)
  return now !== undefined && (/[ZX]/.test(now.state) || now.started !== started)
}

function isAlive(id) {
  try {
    process.kill(id, 0)
    return true
  } catch ({ code }) {
    return code !== 'ESRCH'
  }
}

/** Calls back once when nothing waits for the answer any more. */
function watchCallers(parent, callers, leave) {
  const timer = setInterval(() => {
    if (process.ppid === parent && !callers.some(hasEnded)) return
    clearInterval(timer)
    leave()
  }, LOOK_MS)
}

module.exports = { findCallers, watchCallers }
