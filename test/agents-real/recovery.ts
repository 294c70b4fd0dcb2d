import type { RunningGateway } from '../../src/app/gateway/open-gateway.ts'

type Fields = Readonly<Record<string, unknown>>

/** The line of the shell that fails in the agent. */
export const FAILING_COMMAND = 'echo HH-NO-INK >&2; exit 3'

/** The fallback agent names the process of its runner, so that the runner can be ended. */
const fallback = `let s='';process.stdin.on('data',d=>s+=d).on('end',()=>{
  process.stdout.write(JSON.stringify({prompt:JSON.parse(s).prompt,runner:process.ppid}))})`

interface Firing {
  readonly event_id: string
  readonly actions: readonly { readonly status: string; readonly run_id: string | null }[]
}

interface RecordedEvent {
  readonly event_id: string
  readonly event: string
  readonly agent: string | null
}

interface StartedRun {
  readonly status: string
  readonly session_id: string
}

interface FallbackResult {
  readonly prompt: string
  readonly runner: number
}

/** Calls of a gateway that recovers from failed tools with a fallback run, a message and a runner. */
export function recoveryOf({ url, token }: Pick<RunningGateway, 'url' | 'token'>) {
  const call = async <Result>(method: string, path: string, body?: Fields): Promise<Result> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer: unknown = await response.json()
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
    return answer as Result
  }
  const recorded = async () =>
    (await call<{ events: readonly RecordedEvent[] }>('GET', '/v1/events?limit=100')).events
  /** A guard against hanging; it measures nothing. */
  const until = async <Value>(read: () => Promise<Value | undefined>): Promise<Value | undefined> => {
    for (let turn = 0; turn < 600; turn++) {
      const value = await read()
      if (value !== undefined) return value
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    return undefined
  }
  return {
    /** Fallback runs work in this folder, where the agent works. */
    async prepare(project: string): Promise<void> {
      await call('PATCH', '/v1/settings', {
        settings: { rules_enabled: true, allow_remote_sessions: true, run_folders: [project] },
        scope: 'gateway',
      })
      await call('POST', '/v1/teams', { name: 'ops', members: [{ name: 'ada' }] })
      const executor = { command: [process.execPath, '-e', fallback] }
      await call('POST', '/agents', { name: 'mends', type: 'procedural', executor })
      await call('POST', '/v1/rules', {
        id: 'mend',
        trigger: { event: 'PostToolUseFailure', outcome: 'failed' },
        condition: { toolNames: ['Bash'] },
        actions: [
          { type: 'spawn_fallback_agent', agentType: 'mends', promptTemplate: 'Mend: $ERROR' },
          { type: 'notify_team', teamName: 'ops', summary: 'A tool failed', messageTemplate: '$ERROR' },
          { type: 'warm_remote_capacity', createDefaultEnvironmentIfMissing: true },
        ],
      })
    },
    /** The firing when each of its actions has ended; undefined if the rule never fires. */
    firing: () =>
      until(async () => {
        const { firings } = await call<{ firings: readonly Firing[] }>('GET', '/v1/rule-firings')
        return firings.find(({ actions }) => actions.every(({ status }) => status === 'executed'))
      }),
    /** The result of the fallback run, whose runner is ended. */
    async fallbackResult(runId: string): Promise<string | undefined> {
      const result = await until(async () => {
        const { run } = await call<{ run: StartedRun }>('GET', `/runs/${runId}`)
        if (run.status !== 'completed') return undefined
        return call<{ result_data: FallbackResult }>('GET', `/sessions/${run.session_id}/result`)
      })
      if (result === undefined) return undefined
      process.kill(result.result_data.runner, 'SIGKILL')
      return result.result_data.prompt
    },
    async messages(): Promise<readonly string[]> {
      const { messages } = await call<{ messages: readonly { text: string }[] }>('GET', '/v1/mailbox')
      return messages.map(({ text }) => text)
    },
    async agentOf(eventId: string): Promise<string | null> {
      return (await recorded()).find(({ event_id }) => event_id === eventId)?.agent ?? null
    },
    async eventNames(): Promise<string> {
      return (await recorded()).map(({ event }) => event).join(', ')
    },
  }
}
