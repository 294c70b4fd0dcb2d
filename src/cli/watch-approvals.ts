import { emitKeypressEvents } from 'node:readline'
import { type CommandDef, defineCommand } from 'citty'
import type { Client } from '../client/client.ts'
import { systemClock } from '../engine/core/clock.ts'
import { errorText } from '../engine/core/error.ts'
import type { Methods } from '../gateway/methods/table.ts'
import { command, type ExitCode, exitCodes } from './command.ts'
import { printMessage, printOutput, replaceControlCharacters } from './output.ts'
import { clientOptions, connectionArgs, withGateway } from './remote/connection.ts'
import { nounCommand } from './remote/method-command.ts'

type Approval = Methods['approvals.list']['result']['approvals'][number]

/** The countdown moves once a second; changes arrive at once. */
const REFRESH_MS = 1_000
const CLEAR = '\u001b[H\u001b[J'

/** The methods `approvals.*`, and a list that answers by keys. */
export function approvalsCommand(): CommandDef {
  const { subCommands } = nounCommand('approvals', ['list', 'show', 'approve', 'deny', 'cancel'])
  const watch = {
    ...watchApprovalsCommand,
    meta: { name: 'watch', description: 'Lists what waits for a person as it arrives; keys answer.' },
  }
  return defineCommand({ subCommands: { ...subCommands, watch } })
}

const watchApprovalsCommand = command({
  args: { ...connectionArgs },
  run(args) {
    const isTerminal = process.stdin.isTTY && process.stdout.isTTY && args.json !== true
    return withGateway(clientOptions(args), (client) =>
      isTerminal ? answerByKeys(client) : printAsTheyArrive(client, args.json === true),
    )
  },
})

/** One line per request, until the command is interrupted. */
async function printAsTheyArrive(client: Client, json: boolean): Promise<ExitCode> {
  const printed = new Set<string>()
  const show = async () => {
    for (const approval of (await readPending(client)).toReversed()) {
      if (printed.has(approval.approval_id)) continue
      printed.add(approval.approval_id)
      printOutput(json ? JSON.stringify(approval) : `${approval.approval_id}  ${describeApproval(approval)}`)
    }
  }
  const changes = client.subscribe('changes.tail', {})
  await show()
  for await (const { item } of changes) if (item.kind === 'approvals') await show()
  return exitCodes.ok
}

/** Redraws the list on every change and every second; ends with `q`. */
async function answerByKeys(client: Client): Promise<ExitCode> {
  const ended = new AbortController()
  const list = new ApprovalList(client)
  const { stdin } = process
  emitKeypressEvents(stdin)
  stdin.setRawMode(true)
  stdin.resume()
  const press = (_: string, key: { readonly name?: string; readonly ctrl?: boolean }) => {
    if (key.name === 'q' || (key.ctrl && key.name === 'c')) ended.abort()
    else void list.press(key.name ?? '')
  }
  stdin.on('keypress', press)
  const ticker = systemClock.every(REFRESH_MS, () => list.draw())
  try {
    await list.refresh()
    for await (const { item } of client.subscribe('changes.tail', {}, { signal: ended.signal }))
      if (item.kind === 'approvals') await list.refresh()
  } finally {
    ticker.stop()
    stdin.off('keypress', press)
    stdin.setRawMode(false)
    stdin.pause()
  }
  return exitCodes.ok
}

class ApprovalList {
  readonly #client: Client
  #rows: readonly Approval[] = []
  #chosen = 0
  #note = ''

  constructor(client: Client) {
    this.#client = client
  }

  async refresh(): Promise<void> {
    this.#rows = await readPending(this.#client)
    this.#chosen = Math.min(this.#chosen, Math.max(0, this.#rows.length - 1))
    this.draw()
  }

  async press(key: string): Promise<void> {
    if (key === 'j' || key === 'down') this.#chosen = Math.min(this.#chosen + 1, this.#rows.length - 1)
    else if (key === 'k' || key === 'up') this.#chosen = Math.max(this.#chosen - 1, 0)
    else if (key === 'a' || key === 'd') await this.#answer(key === 'a' ? 'approve' : 'deny')
    this.draw()
  }

  async #answer(verdict: 'approve' | 'deny'): Promise<void> {
    const approval = this.#rows[this.#chosen]
    if (approval === undefined) return
    const { approval_id } = approval
    try {
      await this.#client.call(`approvals.${verdict}`, { approval_id })
      this.#note = `${verdict === 'approve' ? 'Approved' : 'Denied'}: ${approval.what ?? approval_id}`
    } catch (thrown) {
      this.#note = errorText(thrown)
    }
    await this.refresh()
  }

  draw(): void {
    const lines = this.#rows.flatMap((approval, index) => {
      const isChosen = index === this.#chosen
      const line = `${isChosen ? '❯' : ' '} ${countdown(approval)}  ${describeApproval(approval)}`
      return isChosen ? [line, ...inputLines(approval)] : [line]
    })
    const head = this.#rows.length === 0 ? 'Nothing waits for a person.' : `${this.#rows.length} waiting`
    const keys = 'a approve   d deny   j k move   q quit'
    printMessage([`${CLEAR}${head}`, '', ...lines, '', replaceControlCharacters(this.#note), keys].join('\n'))
  }
}

async function readPending(client: Client): Promise<readonly Approval[]> {
  return (await client.call('approvals.list', { status: 'pending', limit: 100 })).approvals
}

/** `claude-code wants git push --force in /srv/shop: a push needs a person`. */
function describeApproval({ agent, requested_by, what, tool, event, folder, reason }: Approval): string {
  const where = folder === null ? '' : ` in ${folder}`
  return replaceControlCharacters(
    `${agent ?? requested_by} wants ${what ?? tool ?? event}${where}: ${reason}`,
  )
}

function inputLines({ input, hook_name, session_id }: Approval): readonly string[] {
  const texts = (JSON.stringify(input, undefined, 2) ?? 'null').split('\n').slice(0, 30)
  const origin = [
    hook_name === null ? '' : `hook ${hook_name}`,
    session_id === null ? '' : `session ${session_id}`,
  ]
  return [...texts, origin.filter(Boolean).join(' · ')].map((line) => `    ${replaceControlCharacters(line)}`)
}

function countdown({ deadline_at }: Approval): string {
  const left = Math.max(0, Math.ceil((deadline_at - systemClock.now()) / 1_000))
  return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`
}
