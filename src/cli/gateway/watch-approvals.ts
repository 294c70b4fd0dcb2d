import { emitKeypressEvents } from 'node:readline'
import type { Client } from '../../client/client.ts'
import { errorText } from '../../engine/core/errors/error.ts'
import { systemClock } from '../../engine/core/time/clock.ts'
import { visibleJson, visibleLine } from '../../engine/core/values/visible-text.ts'
import type { Methods } from '../../gateway/methods.ts'
import { command, type ExitCode, exitCodes } from '../command.ts'
import { clearScreen, printMessage, printOutput } from '../output.ts'
import { clientOptions, connectionArgs, withGateway } from '../remote/connection.ts'

type Approval = Methods['approvals.list']['result']['approvals'][number]

/** The countdown moves once a second; changes arrive at once. */
const REFRESH_MS = 1_000

export const watchApprovalsCommand = command({
  meta: { name: 'watch', description: 'Lists what waits for a person as it arrives; keys answer.' },
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
      printOutput(json ? visibleJson(approval) : `${approval.approval_id}  ${describeApproval(approval)}`)
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
  const press = (
    _: string,
    key: { readonly name?: string; readonly ctrl?: boolean; readonly shift?: boolean },
  ) => {
    if (key.name === 'q' || (key.ctrl && key.name === 'c')) ended.abort()
    else void list.press(key.name ?? '', key.shift === true)
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

/** What a key does after it was pressed twice. With shift it answers all identical calls that the list shows. */
const answers = {
  a: { verdict: 'approve', what: 'approve it' },
  g: {
    verdict: 'approve',
    what: 'approve it, and identical calls of its session for 15 minutes',
    grant_ms: 900_000,
  },
  d: { verdict: 'deny', what: 'deny it' },
} as const
type AnswerKey = keyof typeof answers

/** The answer that waits for its second key press, and the call that it is about. */
interface AskedAnswer {
  readonly key: AnswerKey
  readonly approvalId: string
  /** How many calls it answers. */
  readonly calls: number
}

class ApprovalList {
  readonly #client: Client
  /** Identical calls are one line. */
  #groups: readonly (readonly [Approval, ...Approval[]])[] = []
  #chosen = 0
  #note = ''
  #asked: AskedAnswer | undefined

  constructor(client: Client) {
    this.#client = client
  }

  async refresh(): Promise<void> {
    const chosen = this.#groups[this.#chosen]?.[0].input_hash
    this.#groups = groupIdentical(await readPending(this.#client))
    // A call that arrives must not slip under the finger of a person who is about to answer another.
    const at = this.#groups.findIndex(([first]) => first.input_hash === chosen)
    this.#chosen = at >= 0 ? at : Math.min(this.#chosen, Math.max(0, this.#groups.length - 1))
    this.draw()
  }

  async press(key: string, isForAll: boolean): Promise<void> {
    const asked = this.#asked
    this.#asked = undefined
    if (key === 'j' || key === 'down') this.#chosen = Math.min(this.#chosen + 1, this.#groups.length - 1)
    else if (key === 'k' || key === 'up') this.#chosen = Math.max(this.#chosen - 1, 0)
    else if (key === 'a' || key === 'g' || key === 'd') await this.#answer(key, isForAll, asked)
    this.draw()
  }

  async #answer(key: AnswerKey, isForAll: boolean, asked: AskedAnswer | undefined): Promise<void> {
    const group = this.#groups[this.#chosen]
    if (group === undefined) return
    const [{ approval_id, what, edited }] = group
    const calls = isForAll ? group.length : 1
    if (asked?.key !== key || asked.approvalId !== approval_id || asked.calls > 1 !== calls > 1) {
      this.#asked = { key, approvalId: approval_id, calls }
      return
    }
    const { verdict } = answers[key]
    const grant = key === 'g' ? { grant_ms: answers.g.grant_ms } : {}
    try {
      const alike = asked.calls > 1 ? { alike: true, calls: asked.calls } : {}
      // What is approved is what the list shows.
      const input = verdict === 'approve' && edited !== null ? { input: edited } : {}
      await this.#client.call(`approvals.${verdict}`, { approval_id, ...alike, ...grant, ...input })
      this.#note = `${verdict === 'approve' ? 'Approved' : 'Denied'}: ${what ?? approval_id}`
    } catch (thrown) {
      this.#note = errorText(thrown)
    }
    await this.refresh()
  }

  draw(): void {
    const lines = this.#groups.flatMap((group, index) => {
      const [first] = group
      const isChosen = index === this.#chosen
      const times = group.length === 1 ? '' : `${group.length} × `
      const line = `${isChosen ? '❯' : ' '} ${countdown(first)}  ${times}${describeApproval(first)}`
      return isChosen ? [line, ...inputLines(first)] : [line]
    })
    const count = this.#groups.reduce((sum, group) => sum + group.length, 0)
    const head = count === 0 ? 'Nothing waits for a person.' : `${count} waiting`
    const keys =
      this.#asked === undefined
        ? 'a approve   g approve for 15 min   d deny   A G D all identical calls   j k move   q quit'
        : describeAsked(this.#asked)
    clearScreen()
    printMessage([head, '', ...lines, '', visibleLine(this.#note), keys].join('\n'))
  }
}

function describeAsked({ key, calls }: AskedAnswer): string {
  const [press, all] = calls > 1 ? [key.toUpperCase(), ` (all ${calls} identical calls)`] : [key, '']
  return `Press ${press} again to ${answers[key].what}${all}; any other key goes back.`
}

/** The oldest first: it expires first. */
function groupIdentical(approvals: readonly Approval[]): readonly (readonly [Approval, ...Approval[]])[] {
  const groups = new Map<string, [Approval, ...Approval[]]>()
  for (const approval of approvals.toReversed()) {
    const known = groups.get(approval.input_hash)
    if (known === undefined) groups.set(approval.input_hash, [approval])
    else known.push(approval)
  }
  return [...groups.values()]
}

async function readPending(client: Client): Promise<readonly Approval[]> {
  return (await client.call('approvals.list', { status: 'pending', limit: 100 })).approvals
}

/** `claude-code wants git push --force in /srv/shop: a push needs a person`. */
export function describeApproval({
  agent,
  requested_by,
  what,
  tool,
  event,
  folder,
  reason,
}: Approval): string {
  const where = folder === null ? '' : ` in ${folder}`
  return visibleLine(`${agent ?? requested_by} wants ${what ?? tool ?? event}${where}: ${reason}`)
}

const MAX_LINES = 30

export function inputLines(approval: Approval): readonly string[] {
  const { approval_id, input, edited, hook_name, session_id } = approval
  const all = visibleJson(edited ?? input, 2).split('\n')
  const hidden = all.length - MAX_LINES
  const texts = [
    ...(edited === null ? [] : ['edited:']),
    ...all.slice(0, MAX_LINES),
    ...(hidden > 0 ? [`… ${hidden} more lines: hookhelm approvals show ${approval_id} --json`] : []),
  ]
  const origin = [
    hook_name === null ? '' : `hook ${hook_name}`,
    session_id === null ? '' : `session ${session_id}`,
  ]
  return [...texts, origin.filter(Boolean).join(' · ')].map((line) => `    ${visibleLine(line)}`)
}

function countdown({ deadline_at }: Approval): string {
  const left = Math.max(0, Math.ceil((deadline_at - systemClock.now()) / 1_000))
  return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`
}
