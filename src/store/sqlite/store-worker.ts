/** Runs inside a worker thread: the whole SQLite store. */
import { parentPort, workerData } from 'node:worker_threads'
import { openRemote } from './sqlite-database.ts'
import {
  type Answer,
  type Call,
  type Remote,
  type Said,
  sendError,
  type WorkerStart,
} from './worker-protocol.ts'

const port = parentPort
if (port === null) throw new TypeError('the store worker runs in a worker thread')
const say = (said: Said) => port.postMessage(said)

const answer = (given: Answer) => say({ kind: 'answer', answer: given })

async function perform(remote: Remote, { id, method, args }: Call): Promise<void> {
  try {
    // Only our own proxy posts calls, and it is typed by the same interface.
    const run = remote[method] as (...args: readonly unknown[]) => Promise<unknown>
    answer({ id, value: await run(...args) })
  } catch (error) {
    answer({ id, error: sendError(error) })
  }
}

try {
  const remote = await openRemote(workerData as WorkerStart, (event, fields) =>
    say({ kind: 'log', event, fields: fields ?? {} }),
  )
  port.on('message', (call: Call) => {
    void perform(remote, call).then(() => {
      if (call.method === 'close') port.close()
    })
  })
  say({ kind: 'ready' })
} catch (error) {
  say({ kind: 'ready', error: sendError(error) })
  port.close()
}
