import type { HookDefinition } from '../hook-definition.ts'
import type { Run } from './compiled-hook.ts'

/** Shared with the watching thread: the number of the handler that runs, and a count that moves with every change. */
const RUNNING = 0
const BEAT = 1

const STEP_MS = 250
const STALLED_STEPS = 4

/**
 * The watching thread. A wait that nobody ends is its clock; it writes to stderr itself, because the thread that keeps
 * the log is the one that hangs. Each message is the name of the next number.
 */
const watching = `
const { parentPort, receiveMessageOnPort, workerData } = require('node:worker_threads')
const { writeSync } = require('node:fs')
const { cells, RUNNING, BEAT, STEP_MS, STALLED_STEPS } = workerData
const hooks = [undefined]

function tell(number, steps) {
  for (let next; (next = receiveMessageOnPort(parentPort)); ) hooks.push(next.message)
  const line = { level: 'error', name: 'engine.stalled', ...hooks[number], stalled_ms: steps * STEP_MS }
  try {
    writeSync(2, JSON.stringify(line) + '\\n')
  } catch {}
}

for (let seen, steps = 0; ; steps++) {
  const beat = Atomics.load(cells, BEAT)
  const number = Atomics.load(cells, RUNNING)
  if (number === 0 || beat !== seen) steps = 0
  else if (steps === STALLED_STEPS) tell(number, steps)
  seen = beat
  Atomics.wait(cells, BEAT, beat, STEP_MS)
}
`

/** Makes a handler known to the watching thread, and lets it see when the handler begins and ends. */
export type Watch = (run: Run, definition: HookDefinition) => Run

let started: Watch | undefined

/**
 * A handler that never yields cannot be stopped from inside its process, but it can be named: after a second another
 * thread writes one line `engine.stalled`. One thread serves all sets of hooks, and it keeps no process alive.
 */
export function watchdog(): Watch {
  started ??= start()
  return started
}

function start(): Watch {
  const cells = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))
  // Loaded here, because the module takes longer to load than most commands take to run.
  const { Worker } = process.getBuiltinModule('node:worker_threads')
  const worker = new Worker(watching, {
    eval: true,
    name: 'hookhelm watchdog',
    workerData: { cells, RUNNING, BEAT, STEP_MS, STALLED_STEPS },
    // Loaders and preloads of the host have no business in there.
    execArgv: [],
    env: {},
  })
  worker.unref()
  let known = 0
  const move = (number: number) => {
    Atomics.store(cells, RUNNING, number)
    Atomics.add(cells, BEAT, 1)
  }
  return (run, { id, event }) => {
    const number = ++known
    worker.postMessage({ hook: id, event })
    return (payload, context) => {
      // A handler may dispatch, so one can run inside another.
      const outer = Atomics.load(cells, RUNNING)
      move(number)
      try {
        return run(payload, context)
      } finally {
        move(outer)
      }
    }
  }
}
