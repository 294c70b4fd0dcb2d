import type { Client } from '../client/client.ts'
import { definedFields } from '../engine/core/values/defined-fields.ts'
import { MESSAGES_EVENT } from '../runs/run-events.ts'
import type { StoredMessages } from '../runs/runner/model/model-history.ts'
import type { RunnerGateway } from '../runs/runner/runner.ts'

/** A poll waits 30 s at the gateway; the rest is for the network. */
const POLL_TIMEOUT_MS = 45_000

/** The gateway as a runner sees it, through its typed client. */
export function runnerGateway(client: Pick<Client, 'call'>): RunnerGateway {
  return {
    register: (offer) => client.call('runners.register', { ...offer }),
    poll: (runner_id, takes_runs, signal) =>
      client.call('runners.poll', { runner_id, takes_runs }, { signal, timeoutMs: POLL_TIMEOUT_MS }),
    heartbeat: (runner_id) => client.call('runners.heartbeat', { runner_id }),
    started: (runner_id, run_id, executor_session_id) =>
      client.call('runners.started', { runner_id, run_id, ...definedFields({ executor_session_id }) }),
    events: (runner_id, run_id, events) => client.call('runners.events', { runner_id, run_id, events }),
    async executorSession(session_id) {
      const { session } = await client.call('runSessions.show', { session_id })
      return session.executor_session_id ?? undefined
    },
    messages: (session_id) => readMessages(client, session_id),
    spend: (runner_id, run_id, tokens) => client.call('runners.spend', { runner_id, run_id, tokens }),
    async completed(runner_id, run_id, result) {
      // The id makes a repeated report store one result.
      const event = { event_type: 'result', data: { ...result }, event_id: `${run_id}-${runner_id}-result` }
      await client.call('runners.events', { runner_id, run_id, events: [event] })
      await client.call('runners.completed', { runner_id, run_id })
    },
    failed: (runner_id, run_id, failure) => client.call('runners.failed', { runner_id, run_id, ...failure }),
    stopped: (runner_id, run_id) => client.call('runners.stopped', { runner_id, run_id, signal: 'SIGTERM' }),
    leave: (runner_id) => client.call('runners.delete', { runner_id }),
  }
}

/** Events with messages are large. */
const MESSAGES_PAGE = 10

async function readMessages(
  client: Pick<Client, 'call'>,
  session_id: string,
): Promise<readonly StoredMessages[]> {
  const found: StoredMessages[] = []
  let cursor: string | undefined
  do {
    const page = { session_id, event_type: MESSAGES_EVENT, limit: MESSAGES_PAGE }
    const { events, nextCursor } = await client.call(
      'runSessions.events',
      cursor === undefined ? page : { ...page, cursor },
    )
    for (const { run_id, execution, from, messages } of events)
      if (typeof execution === 'string' && typeof from === 'number' && Array.isArray(messages))
        found.push({ run_id, execution, from, messages })
    cursor = nextCursor
  } while (cursor !== '')
  return found
}
