/** The entry of the worker thread that runs the SQLite store. */
import { parentPort, workerData } from 'node:worker_threads'
import { packRawNumbers, unpackRawNumbers } from '../../safe/json.ts'
import { operationNames } from '../sql-store.ts'
import { openWorkerStore, type WorkerStore } from './sqlite-database.ts'
import {
  serializeError,
  type WorkerAnswer,
  type WorkerCall,
  type WorkerMessage,
  type WorkerStart,
} from './worker-protocol.ts'

const port = parentPort
if (port === null) throw new TypeError('the store worker runs in a worker thread')
const post = (message: WorkerMessage) => port.postMessage(message)
const answer = (given: WorkerAnswer) => post({ kind: 'answer', answer: given })

function answerWith(id: number, value: unknown): void {
  try {
    answer({ id, value })
  } catch {
    answer({ id, value: packRawNumbers(value), packed: true })
  }
}

async function perform(store: WorkerStore, { id, method, args, sentAt, packed }: WorkerCall): Promise<void> {
  try {
    answerWith(id, await store.perform(method, packed ? args.map(unpackRawNumbers) : args, sentAt))
  } catch (error) {
    answer({ id, error: serializeError(error) })
  }
}

try {
  const store = await openWorkerStore(workerData as WorkerStart, (event, fields) =>
    post({ kind: 'log', event, fields: fields ?? {} }),
  )
  port.on('message', (call: WorkerCall) => {
    void perform(store, call).then(() => {
      if (call.method === 'close') port.close()
    })
  })
  post({ kind: 'ready', operations: operationNames })
} catch (error) {
  post({ kind: 'ready', error: serializeError(error) })
  port.close()
}
