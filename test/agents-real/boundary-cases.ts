import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunningGateway } from '../../src/app/gateway/open-gateway.ts'
import type { Case } from './cases.ts'
import type { Ran, Recipe } from './recipe.ts'
import type { OpenStage } from './stage.ts'

const FILE = 'ran.txt'
const REASON = 'HH-BOUNDARY-11'
const CALLS = 5
/** How long the gateway may take to notice that an agent has ended. */
const NOTICE_MS = 2_000

/** What a hook prints that is no answer, by the file that the command would make. */
const printed: Readonly<Record<string, string>> = {
  'policy.txt': 'Blocked by policy: do not run this',
  'deny.txt': 'DENY: production',
  'no.txt': 'no',
  'error.txt': 'Error: cannot reach policy server',
  'traceback.txt': 'Traceback (most recent call last):\\n  File "policy.py", line 1\\nKeyError: 1',
  'binary.txt': '\\377\\376\\001\\002',
}

/** One hook for all of them, which has no objection to any other command. */
const printing = `case "$(cat)" in ${Object.entries(printed)
  .map(([file, text]) => `*${file}*) printf '${text}';;`)
  .join(' ')} esac; exit 0`

const hooksOf = (...hooks: readonly object[]) => JSON.stringify({ hooks })
const commandHook = (name: string, command: string) => ({
  ...{ name, event: 'pre_tool_use', handler_type: 'command', config: { command } },
})
const asking = { event: 'pre_tool_use', options: { matcher: '^Bash$' } } as const

const seen = (ran: Ran, what: string) => `${what}; it ended with ${ran.code}: ${ran.output.slice(-600)}`
const said = (stage: OpenStage, text: string) =>
  stage.requests.some(({ body }) => JSON.stringify(body ?? '').includes(text))

interface Approval {
  readonly approval_id: string
  readonly status: string
  readonly decided_by: string | null
}

/** The questions of a gateway, and the answers of a person. */
function approvalsOf({ url, token }: RunningGateway) {
  const call = async (method: string, path: string): Promise<unknown> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const body = method === 'POST' ? { body: '{}' } : {}
    return (await fetch(`${url}/v1/approvals${path}`, { method, headers, ...body })).json()
  }
  return {
    pending: async () =>
      ((await call('GET', '?status=pending')) as { approvals: readonly Approval[] }).approvals,
    show: async (id: string) => ((await call('GET', `/${id}`)) as { approval: Approval }).approval,
    answer: (id: string, verdict: 'approve' | 'deny') => call('POST', `/${id}/${verdict}`),
  }
}

/** A guard against hanging; it measures nothing. */
async function until<Value>(
  read: () => Promise<Value>,
  isRight: (value: Value) => boolean,
): Promise<Value | undefined> {
  for (let turn = 0; turn < 1_200; turn++) {
    const value = await read()
    if (isRight(value)) return value
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return undefined
}

/** Ends the processes of an agent and not the hook clients that it has started, nor the shells that start those. */
function killAgent(pid: number): void {
  const all = readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
      return [{ id: Number(name), parent, words: readFileSync(`/proc/${name}/cmdline`, 'latin1') }]
    } catch {
      return []
    }
  })
  const below = (id: number): number[] => [
    id,
    ...all
      .filter(({ parent, words }) => parent === id && !words.includes('hookhelm-hook'))
      .flatMap((child) => below(child.id)),
  ]
  for (const id of below(pid))
    try {
      process.kill(id, 'SIGKILL')
    } catch {
      // Its parent has ended it.
    }
}

/** Runs the agent while a person answers each question that is open, one after the other. */
async function runAnswered(
  stage: OpenStage,
  recipe: Recipe,
  gateway: RunningGateway,
  verdicts: readonly ('approve' | 'deny')[],
): Promise<{ readonly ran: Ran; readonly answered: number }> {
  const { pending, answer } = approvalsOf(gateway)
  let isOver = false
  let answered = 0
  const running = recipe.run(stage, { timeoutMs: 240_000 }).finally(() => {
    isOver = true
  })
  while (!isOver) {
    const [open] = await pending()
    if (open === undefined) await new Promise((resolve) => setTimeout(resolve, 50))
    else {
      await answer(open.approval_id, verdicts[answered] ?? 'deny')
      answered += 1
    }
  }
  return { ran: await running, answered }
}

const linesOf = (stage: OpenStage) =>
  stage.made(FILE) ? readFileSync(join(stage.project, FILE), 'utf8').trim().split('\n').length : 0

/** Connects the agent; Copilot CLI also through the project settings of Claude Code. */
function connectTwice(stage: OpenStage, { name }: Recipe): void {
  stage.connect()
  if (name === 'copilot-cli') stage.hookhelm('connect', 'claude-code', '--project')
}

/** What is at the edge of a gate: text that is no answer, an agent that is gone, a call that is reported twice, another folder. */
export const boundaryCases: readonly Case[] = [
  {
    name: 'printed text',
    about:
      'a hook prints `Blocked by policy`, `DENY`, `no`, an error, a traceback or binary bytes in place of an answer: nothing runs; where it prints nothing, the tool runs',
    steps: () => ['fine.txt', ...Object.keys(printed)].map((file) => `echo yes > ${file}`),
    async run(stage, recipe) {
      stage.writeUserHooks(hooksOf(commandHook('printing', printing)))
      await stage.up()
      stage.connect()
      const ran = await recipe.run(stage)
      if (!stage.made('fine.txt')) return seen(ran, 'the control did not run')
      const through = Object.keys(printed).filter((file) => stage.made(file))
      if (through.length > 0) return seen(ran, `these ran: ${through.join(', ')}`)
      return said(stage, 'binary.txt') || seen(ran, 'it never came to the last call')
    },
  },
  {
    name: 'killed',
    about:
      'the agent is ended by SIGKILL while its call waits for a person: the question is cancelled within 2 s, an approval comes too late, and nothing runs',
    async run(stage, recipe) {
      const gateway = await stage.up([{ ...asking, run: () => ({ kind: 'ask', reason: REASON }) }])
      stage.connect()
      const { pending, show, answer } = approvalsOf(gateway)
      let pid = 0
      const running = recipe.run(stage, {
        onStart(started) {
          pid = started
        },
      })
      const [question] = (await until(pending, (open) => open.length > 0)) ?? []
      if (question === undefined) return seen(await running, 'no person was asked')
      killAgent(pid)
      const from = performance.now()
      const ended = await until(
        () => show(question.approval_id),
        ({ status }) => status !== 'pending',
      )
      const ms = Math.round(performance.now() - from)
      await answer(question.approval_id, 'approve')
      const ran = await running
      if (stage.made(FILE)) return seen(ran, 'the tool ran')
      if (ended?.status !== 'cancelled' || ended.decided_by !== 'the caller left')
        return seen(ran, `the question is ${ended?.status} by ${ended?.decided_by}`)
      return ms <= NOTICE_MS || `the question was cancelled after ${ms} ms`
    },
  },
  {
    name: 'five at once',
    about:
      'the model makes five identical calls at once: each needs an answer of its own, and as many run as were approved; Copilot CLI is connected twice',
    steps: (recipe) => [{ tools: Array.from({ length: CALLS }, () => recipe.tool(`echo yes >> ${FILE}`)) }],
    async run(stage, recipe) {
      const gateway = await stage.up([{ ...asking, run: () => ({ kind: 'ask', reason: REASON }) }])
      connectTwice(stage, recipe)
      const { ran, answered } = await runAnswered(stage, recipe, gateway, ['approve', 'approve', 'approve'])
      if (answered !== CALLS) return seen(ran, `${answered} answers were given, ${linesOf(stage)} calls ran`)
      return linesOf(stage) === 3 || seen(ran, `${linesOf(stage)} calls ran`)
    },
  },
  {
    name: 'connected twice',
    about:
      'Copilot CLI runs its own hooks and those of Claude Code: a call is one event, and runs as the hook changed it',
    async run(stage, recipe) {
      if (recipe.name !== 'copilot-cli') return 'not tried'
      let calls = 0
      const count = (payload: unknown) => {
        calls += 1
        const { tool_input } = payload as { tool_input: Record<string, unknown> }
        return { kind: 'allow', input: { ...tool_input, command: `echo ${calls} >> ${FILE}` } } as const
      }
      await stage.up([{ ...asking, run: count }])
      connectTwice(stage, recipe)
      const ran = await recipe.run(stage)
      if (!stage.made(FILE)) return seen(ran, 'the tool did not run')
      const left = readFileSync(join(stage.project, FILE), 'utf8').trim()
      return (calls === 1 && left === '1') || seen(ran, `the hook ran ${calls} times, the file has ${left}`)
    },
  },
  {
    name: 'other folder',
    about:
      'the folder next to the project has a trusted hook that refuses: no call writes there by `cd`, by a relative or by an absolute path; in the project all is as before',
    steps: (_, { home }) => [
      'echo yes > fine.txt',
      `cd ../other && echo yes > cd.txt`,
      `echo yes > ../other/relative.txt`,
      `cp fine.txt ${join(home, 'other', 'absolute.txt')}`,
    ],
    async run(stage, recipe) {
      const other = join(stage.home, 'other')
      mkdirSync(other)
      stage.trustHooks(other, hooksOf(commandHook('guest', `echo ${REASON} >&2; exit 2`)))
      await stage.up()
      stage.connect()
      const ran = await recipe.run(stage, { args: recipe.addFolder?.(other) ?? [] })
      if (!stage.made('fine.txt')) return seen(ran, 'the control did not run')
      const made = readdirSync(other).filter((name) => name.endsWith('.txt'))
      if (made.length > 0) return seen(ran, `these were written there: ${made.join(', ')}`)
      return said(stage, REASON) || seen(ran, 'the model was not told why')
    },
  },
]
