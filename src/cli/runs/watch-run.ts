import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../client/client.ts'
import { visibleJson, visibleLine } from '../../engine/core/values/visible-text.ts'
import type { Methods } from '../../gateway/methods.ts'
import { type RunPhase, readRunPhases } from '../../runs/run-timeline.ts'
import { command, type ExitCode, exitCodes } from '../command.ts'
import { formatTable, printMessage, printOutput } from '../output.ts'
import { clientOptions, connectionArgs, withGateway } from '../remote/connection.ts'

type Run = Methods['runs.show']['result']['run']
type AwaitedApproval = Methods['runs.show']['result']['waits_for'][number]
type SessionEvent = Methods['runSessions.events']['result']['events'][number]

/** Without a live event, for example behind a lost connection, the command looks again after this time. */
const LOOK_AGAIN_MS = 1_000
const PAGE = 200
const BAR_WIDTH = 40

export const watchRunCommand = command({
  meta: { name: 'watch', description: 'Prints what a run does until it has ended, then its timeline.' },
  args: {
    'run-id': { type: 'positional', description: 'the run', required: true },
    ...connectionArgs,
  },
  run(args) {
    const { 'run-id': runId, json } = args
    return withGateway(clientOptions(args), (client) => watchRun(client, runId, json === true))
  },
})

/** Prints the events of a run as they arise until it has ended, then its timeline and its result. */
async function watchRun(client: Client, runId: string, json: boolean): Promise<ExitCode> {
  const { run: first } = await client.call('runs.show', { run_id: runId })
  const follower = followSession(client, first.session_id)
  const shown: SessionEvent[] = []
  const announced = new Set<string>()
  let cursor = ''
  if (!json) printMessage(`${first.agent_name ?? 'an agent'} ${runId}, started by ${first.created_by}`)
  try {
    for (;;) {
      // The run before its events: the events of a run that has ended are complete.
      const { run, waits_for } = await client.call('runs.show', { run_id: runId })
      const page = await readEvents(client, run.session_id, cursor)
      cursor = page.cursor
      const known = new Set(shown.map(({ event_id }) => event_id))
      const fresh = page.events.filter(({ event_id, run_id }) => run_id === runId && !known.has(event_id))
      shown.push(...fresh)
      for (const event of fresh) printOutput(json ? visibleJson(event) : eventLine(run, event))
      for (const awaited of waits_for.filter(({ approval_id }) => !announced.has(approval_id))) {
        announced.add(awaited.approval_id)
        if (!json) printMessage(visibleLine(describeAwaited(awaited)))
      }
      if (run.completed_at !== null) return printEnd(run, shown, json)
      await follower.next()
    }
  } finally {
    follower.stop()
  }
}

/** All events from a page on, and the last page: new events arise there. */
async function readEvents(client: Client, session_id: string, from: string) {
  const events: SessionEvent[] = []
  let cursor = from
  for (;;) {
    const at = cursor === '' ? {} : { cursor }
    const page = await client.call('runSessions.events', { session_id, limit: PAGE, ...at })
    events.push(...page.events)
    if (page.nextCursor === '') return { events, cursor }
    cursor = page.nextCursor
  }
}

/** `next` resolves after the next event of the session, and after a second at the latest. */
function followSession(client: Client, session_id: string) {
  const ended = new AbortController()
  let arrival = Promise.withResolvers<void>()
  const read = async () => {
    const params = { session_id, include_init: false }
    for await (const _ of client.subscribe('runSessions.tail', params, { signal: ended.signal }))
      arrival.resolve()
  }
  read().catch(() => printMessage('no live events: looking every second'))
  return {
    async next(): Promise<void> {
      const late = new AbortController()
      await Promise.race([
        arrival.promise,
        sleep(LOOK_AGAIN_MS, undefined, { signal: late.signal }).catch(() => {}),
      ])
      late.abort()
      arrival = Promise.withResolvers()
    },
    stop: () => ended.abort(),
  }
}

/** `waits for approval apr_… by 2 approvers (ada has approved): pre_tool_use Bash`. */
function describeAwaited({
  approval_id,
  approvers_needed,
  approved_by,
  event,
  tool,
}: AwaitedApproval): string {
  const whom = approvers_needed === 1 ? 'an approver' : `${approvers_needed} approvers`
  const already = approved_by.length === 0 ? '' : ` (${approved_by.join(', ')} approved)`
  return `waits for approval ${approval_id} by ${whom}${already}: ${[event, tool].filter(Boolean).join(' ')}`
}

/** `  1.29 s  hook_complete  on_run_start → resolver: continue`. */
function eventLine({ created_at }: Run, event: SessionEvent): string {
  const offset = `${((Date.parse(event.timestamp) - created_at) / 1_000).toFixed(2)} s`.padStart(10)
  const text = describeSessionEvent(event)
  return visibleLine(`${offset}  ${event.event_type.padEnd(16)}  ${text}`).trimEnd()
}

function describeSessionEvent(event: SessionEvent): string {
  const { hook_type, target_name, block_reason, error, action, status, on_error_behavior } = event
  const hook = typeof hook_type === 'string' ? `${hook_type} → ${String(target_name)}` : ''
  const policy = typeof on_error_behavior === 'string' ? ` (on_error: ${on_error_behavior})` : ''
  const said = [block_reason, error, action, status].find((text) => typeof text === 'string')
  if (said !== undefined) return [hook, `${String(said)}${policy}`].filter(Boolean).join(': ')
  if (hook !== '') return hook
  const { event_id: _, event_type, session_id, run_id, timestamp, ...rest } = event
  return Object.keys(rest).length === 0 ? '' : JSON.stringify(rest).slice(0, 500)
}

function printEnd(run: Run, events: readonly SessionEvent[], json: boolean): ExitCode {
  const { status, block_reason, error } = run
  if (!json) {
    printMessage(`\n${formatPhases(readRunPhases(run, events))}\n`)
    const reason = block_reason ?? error
    const word = block_reason === null ? status : 'blocked'
    printMessage(visibleLine(reason === null ? word : `${word}: ${reason}`))
    const result = events.findLast(({ event_type }) => event_type === 'result')
    if (typeof result?.result_text === 'string') printOutput(result.result_text)
    else if (result !== undefined) printOutput(result.result_data ?? null)
  }
  if (status === 'completed') return exitCodes.ok
  return block_reason === null ? exitCodes.failed : exitCodes.blocked
}

/** One bar per phase, below each other on one scale. */
function formatPhases(phases: readonly RunPhase[]): string {
  const begin = Math.min(...phases.map(({ start }) => start))
  const end = Math.max(...phases.map(({ start, end: last }) => last ?? start))
  const column = (at: number) => Math.round(((at - begin) / Math.max(end - begin, 1)) * (BAR_WIDTH - 1))
  return formatTable(
    phases.map(({ kind, start, end: last, hook }) => {
      const from = column(start)
      const bar = `${' '.repeat(from)}${'█'.repeat(column(last ?? end) - from + 1)}`.padEnd(BAR_WIDTH)
      const took = last === null ? 'goes on' : `${last - start} ms`
      const name = hook === undefined ? kind : `${hook.point} → ${hook.target}`
      return [visibleLine(name), `│${bar}│`, took, hook?.state ?? '']
    }),
  )
}
