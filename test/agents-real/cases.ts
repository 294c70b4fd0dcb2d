import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findAdapter } from '../../src/agents/table.ts'
import { approvalCases } from './approval-cases.ts'
import type { Step } from './fake-servers/all.mjs'
import type { Ran, Recipe, Stage } from './recipe.ts'
import { FAILING_COMMAND, recoveryOf } from './recovery.ts'
import type { OpenStage, StageHook } from './stage.ts'

const FILE = 'ran.txt'
const OTHER = 'rewritten.txt'
const REASON = 'HH-REASON-417'
const CONTEXT = 'HH-CONTEXT-7'
const SECRET = 'HH-SECRET-99'
const REDACTED = 'HH-REDACTED'

/** What the agent's model wants to run in every case. */
export const COMMAND = `echo ${SECRET} > ${FILE}; echo ${SECRET}`

const MOVED = 'HH-MOVED-3'
const MOVE = `cd ../other; echo ${MOVED}`.replace(MOVED, `"${MOVED.slice(0, 3)}"${MOVED.slice(3)}`)
/** Above the blocks in a row that every agent allows at the end of a turn. */
const MAX_REQUESTS = 20

/** Passed, or a sentence that says what was seen instead. */
type Outcome = true | string

export interface Case {
  readonly name: string
  readonly about: string
  /** What the model wants instead of `COMMAND`. */
  steps?(recipe: Recipe, stage: Stage): readonly (string | Step)[] | undefined
  run(stage: OpenStage, recipe: Recipe): Promise<Outcome>
}

const on = (event: string, run: StageHook['run'], options: StageHook['options'] = {}): StageHook => ({
  event,
  run,
  options,
})

const said = (stage: OpenStage, text: string) =>
  stage.requests.some(({ body }) => JSON.stringify(body ?? '').includes(text))

const seen = (ran: Ran, what: string): string =>
  `${what}; it ended with ${ran.code} after ${Math.round(ran.ms)} ms: ${ran.output.slice(-600)}`

/** Nothing ran, and not because the agent never got so far: `isReached` says that the gate was. */
const blocked = (stage: OpenStage, ran: Ran, isReached: boolean): Outcome => {
  if (stage.made(FILE)) return seen(ran, 'the tool ran')
  if (ran.timedOut) return seen(ran, 'it hung')
  return isReached || seen(ran, 'it never came to the gate')
}

const modelAsked = (stage: OpenStage) => stage.requests.some(({ method }) => method === 'POST')

/** Clients that got no answer leave what they refused. */
const refused = (stage: OpenStage) =>
  stage
    .spooled()
    .some(
      (path) => path.endsWith('.json') && /"blocked":true/.test(readFileSync(path, 'utf8').slice(0, 1_000)),
    )

const changeCommand: StageHook['run'] = (payload) => {
  const { tool_input } = payload as { tool_input: Record<string, unknown> }
  return { kind: 'allow', input: { ...tool_input, command: `echo yes > ${OTHER}` } }
}

const GUARDED = 'prod.cfg'

/** A shell command that changes the guarded file, in a way that a rule for the tool `Write` alone does not see. */
function changeByShell({ name }: Recipe): string {
  if (name === 'codex')
    return `apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: ${GUARDED}\n@@\n-original\n+changed\n*** End Patch\nEOF`
  return name === 'gemini-cli' ? `echo changed | tee ${GUARDED}` : `sed -i s/original/changed/ ${GUARDED}`
}

const writeGuarded = ({ project }: OpenStage) => writeFileSync(join(project, GUARDED), 'original\n')
const readGuarded = ({ project }: OpenStage) => readFileSync(join(project, GUARDED), 'utf8').trim()

/** A hook file with one command hook. */
const commandHook = (event: string, command: string) =>
  JSON.stringify({ hooks: [{ event, handler_type: 'command', config: { command } }] })

/** The tools in the requests to the model, in the formats of every provider. */
function offeredTools(stage: OpenStage): readonly string[] {
  const names = new Set<string>()
  const collect = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(collect)
    if (typeof value !== 'object' || value === null) return
    const { name, type, function: inner, functionDeclarations, tools } = value as Record<string, unknown>
    if (typeof name === 'string') names.add(name)
    else if (typeof type === 'string' && type !== 'function') names.add(type)
    for (const below of [inner, functionDeclarations, tools]) collect(below)
  }
  for (const { body } of stage.requests) collect((body as { tools?: unknown } | null)?.tools)
  return [...names].sort()
}

export const cases: readonly Case[] = [
  ...approvalCases,
  {
    name: 'allow',
    about: 'a hook has no objection: the tool runs',
    async run(stage, recipe) {
      await stage.up([on('pre_tool_use', () => undefined)])
      stage.connect()
      const ran = await recipe.run(stage)
      return stage.made(FILE) || seen(ran, 'the tool did not run')
    },
  },
  {
    name: 'block',
    about: 'a hook blocks: the tool does not run, and the model is told why',
    async run(stage, recipe) {
      await stage.up([on('pre_tool_use', () => ({ kind: 'block', reason: REASON }), { matcher: '^Bash$' })])
      stage.connect()
      const ran = await recipe.run(stage)
      if (stage.made(FILE)) return seen(ran, 'the tool ran')
      return said(stage, REASON) || seen(ran, 'the model was not told why')
    },
  },
  {
    name: 'rewrite',
    about: 'a hook changes the command: the changed one runs',
    async run(stage, recipe) {
      await stage.up([on('pre_tool_use', changeCommand)])
      stage.connect()
      const ran = await recipe.run(stage)
      if (stage.made(FILE)) return seen(ran, 'the original ran')
      return stage.made(OTHER) || seen(ran, 'the changed command did not run')
    },
  },
  {
    name: 'context',
    about: 'a hook adds context to the prompt: the model gets it',
    async run(stage, recipe) {
      await stage.up([on('user_prompt_submit', () => ({ kind: 'allow', context: CONTEXT }))])
      stage.connect()
      const ran = await recipe.run(stage)
      return said(stage, CONTEXT) || seen(ran, 'the model did not get it')
    },
  },
  {
    name: 'output',
    about: 'a hook changes the result: the model never sees the original',
    async run(stage, recipe) {
      const redact = on('post_tool_use', () => ({ kind: 'allow', input: REDACTED }), { transform: true })
      await stage.up([redact])
      stage.connect()
      const ran = await recipe.run(stage)
      if (!stage.made(FILE)) return seen(ran, 'the tool did not run')
      if (resultsWith(stage, SECRET)) return seen(ran, 'the model saw the original')
      return said(stage, REDACTED) || seen(ran, 'the model did not get the changed result')
    },
  },
  {
    name: 'prompt',
    about: 'a hook blocks the prompt: the model is never asked',
    async run(stage, recipe) {
      let isAsked = false
      const refuse: StageHook['run'] = () => {
        isAsked = true
        return { kind: 'block', reason: REASON }
      }
      await stage.up([on('user_prompt_submit', refuse)])
      stage.connect()
      const ran = await recipe.run(stage)
      if (said(stage, 'say hi')) return seen(ran, 'the model got the prompt')
      return blocked(stage, ran, isAsked)
    },
  },
  {
    name: 'ask',
    about: 'a hook wants a person, and nobody is there: the tool does not run',
    async run(stage, recipe) {
      await stage.up([on('pre_tool_use', () => ({ kind: 'ask', reason: REASON }))])
      stage.connect('--timeout', '8', '--wait', '8')
      const ran = await recipe.run(stage)
      return blocked(stage, ran, modelAsked(stage))
    },
  },
  {
    name: 'stop',
    about: 'a hook has the agent go on once: the model is asked again, with the reason',
    async run(stage, recipe) {
      if (recipe.cannot?.includes('stop')) return 'not tried'
      let asked = 0
      const once: StageHook['run'] = () => {
        asked += 1
        return asked === 1 ? { kind: 'block', reason: REASON } : undefined
      }
      await stage.up([on('stop', once)])
      stage.connect()
      const ran = await recipe.run(stage)
      return said(stage, REASON) || seen(ran, 'the model was not asked again')
    },
  },
  {
    name: 'garbage',
    about: 'something else listens where the gateway should: blocked',
    async run(stage, recipe) {
      stage.connect()
      const close = await stage.garbage()
      const ran = await recipe.run(stage)
      await close()
      return blocked(stage, ran, refused(stage))
    },
  },
  {
    name: 'no client',
    about: 'the program that the agent should start is gone: blocked',
    async run(stage, recipe) {
      if (recipe.cannot?.includes('no client')) return 'not tried'
      await stage.up()
      stage.connect()
      stage.loseClient()
      const ran = await recipe.run(stage)
      return blocked(stage, ran, /hookhelm|hook/i.test(ran.output) || modelAsked(stage))
    },
  },
  {
    name: 'down',
    about: 'the gateway goes away in the middle: the tool call is blocked',
    async run(stage, recipe) {
      await stage.up()
      stage.connect()
      stage.onModel(() => stage.down())
      const ran = await recipe.run(stage)
      return blocked(stage, ran, modelAsked(stage) && refused(stage))
    },
  },
  {
    name: 'never up',
    about: 'the gateway never ran: nothing gets through',
    async run(stage, recipe) {
      stage.connect()
      const ran = await recipe.run(stage)
      return blocked(stage, ran, refused(stage))
    },
  },
  {
    name: 'slow',
    about: 'a hook never answers: blocked before the agent gives up on us',
    async run(stage, recipe) {
      await stage.up([on('pre_tool_use', () => new Promise(() => {}), { timeout_ms: 10_000 })])
      stage.connect('--timeout', '6')
      const ran = await recipe.run(stage)
      return blocked(stage, ran, modelAsked(stage))
    },
  },
  {
    name: 'spool',
    about: 'what happened while the gateway was away is recorded when it is back',
    async run(stage, recipe) {
      await stage.up()
      stage.connect()
      stage.onModel(() => stage.down())
      const ran = await recipe.run(stage)
      const left = stage.spooled().filter((path) => path.endsWith('.json'))
      const events = left.map((path) => JSON.parse(readFileSync(path, 'utf8')) as { blocked?: true })
      if (!events.some((event) => event.blocked === undefined)) return seen(ran, 'nothing observed was left')
      const { url, token } = await stage.up()
      for (let turn = 0; turn < 200 && stage.spooled().length > 0; turn++)
        await new Promise((resolve) => setTimeout(resolve, 50))
      if (stage.spooled().length > 0) return `it was not taken up: ${stage.spooled().join(', ')}`
      const headers = { authorization: `Bearer ${token}` }
      const response = await fetch(`${url}/v1/sessions`, { headers })
      const { sessions } = (await response.json()) as { sessions: { events: number }[] }
      return sessions.some((session) => session.events > 1) || 'no session has its events'
    },
  },
  {
    name: 'unreadable',
    about: 'a hook’s answer cannot be read: blocked',
    async run(stage, recipe) {
      stage.writeUserHooks(commandHook('pre_tool_use', `printf '{"decision":"block"'`))
      await stage.up()
      stage.connect()
      const ran = await recipe.run(stage)
      return blocked(stage, ran, modelAsked(stage))
    },
  },
  {
    name: 'restart',
    about: 'the gateway restarts after the agent changed its folder: the hooks of the repository still apply',
    steps: () => [MOVE, `echo yes > "$HOME/project/${FILE}"`],
    async run(stage, recipe) {
      mkdirSync(join(stage.home, 'other'))
      stage.trustHooks(stage.project, commandHook('pre_tool_use', `grep -q ${FILE} && exit 2; exit 0`))
      await stage.up()
      stage.connect()
      stage.onModel(async () => {
        if (!JSON.stringify(stage.requests.at(-1)?.body ?? '').includes(MOVED)) return
        await stage.down()
        await stage.up()
      })
      const args = recipe.addFolder?.(join(stage.home, 'other')) ?? []
      const ran = await recipe.run(stage, { args })
      return blocked(stage, ran, said(stage, MOVED))
    },
  },
  {
    name: 'broken file',
    about:
      'the gateway restarts with a broken hook file of the user: tool calls are blocked, and the turn ends',
    async run(stage, recipe) {
      await stage.up()
      stage.connect()
      let isBroken = false
      stage.onModel(async () => {
        if (isBroken) return
        isBroken = true
        stage.writeUserHooks('hooks: [\n')
        await stage.down()
        await stage.up()
      })
      const ran = await recipe.run(stage, { timeoutMs: 60_000 })
      const asked = stage.requests.filter(({ method }) => method === 'POST').length
      if (asked > MAX_REQUESTS) return seen(ran, `the model was asked ${asked} times`)
      return blocked(stage, ran, asked > 0)
    },
  },
  {
    name: 'shared settings',
    about: 'Copilot CLI runs the project settings of Claude Code: its calls pass the hooks there',
    async run(stage, recipe) {
      if (recipe.name !== 'copilot-cli') return 'not tried'
      await stage.up([on('pre_tool_use', changeCommand)])
      stage.hookhelm('connect', 'claude-code', '--project')
      const ran = await recipe.run(stage)
      if (stage.made(FILE)) return seen(ran, 'the original ran')
      return stage.made(OTHER) || seen(ran, 'the changed command did not run')
    },
  },
  {
    name: 'shared, down',
    about: 'the same without a gateway: blocked, and the person reads how to start it',
    async run(stage, recipe) {
      if (recipe.name !== 'copilot-cli') return 'not tried'
      await stage.up()
      stage.hookhelm('connect', 'claude-code', '--project')
      stage.onModel(() => stage.down())
      const ran = await recipe.run(stage)
      if (!ran.output.includes('hookhelm up')) return seen(ran, 'the reason was not shown')
      return blocked(stage, ran, refused(stage))
    },
  },
  {
    name: 'shell write',
    about: 'without a hook, a shell command of the model changes a file: the control of the next case',
    steps: (recipe) => [changeByShell(recipe)],
    async run(stage, recipe) {
      writeGuarded(stage)
      await stage.up()
      stage.connect()
      const ran = await recipe.run(stage)
      return readGuarded(stage) === 'changed' || seen(ran, `the file has ${readGuarded(stage)}`)
    },
  },
  {
    name: 'guarded file',
    about: 'a hook guards the file with `Write(./prod.cfg)`: the shell command does not change it',
    steps: (recipe) => [changeByShell(recipe)],
    async run(stage, recipe) {
      writeGuarded(stage)
      const matcher = `Write(./${GUARDED})`
      await stage.up([on('pre_tool_use', () => ({ kind: 'block', reason: REASON }), { matcher })])
      stage.connect()
      const ran = await recipe.run(stage)
      if (readGuarded(stage) !== 'original') return seen(ran, `the file has ${readGuarded(stage)}`)
      return said(stage, REASON) || seen(ran, 'the model was not told why')
    },
  },
  {
    name: 'sub-agent',
    about: 'a hook bans the tool Agent: no sub-agent starts, and the model is told why',
    steps: ({ subAgent }) => (subAgent === undefined ? undefined : [subAgent]),
    async run(stage, recipe) {
      if (recipe.subAgent === undefined) return 'not tried'
      await stage.up([on('pre_tool_use', () => ({ kind: 'block', reason: REASON }), { matcher: '^Agent$' })])
      stage.connect()
      const ran = await recipe.run(stage)
      return said(stage, REASON) || seen(ran, 'the model was not told why')
    },
  },
  {
    name: 'tools',
    about: 'every tool that the agent offers its model has a name in Hookhelm, or is listed as unmapped',
    async run(stage, recipe) {
      await stage.up()
      stage.connect()
      const ran = await recipe.run(stage)
      const agent = findAdapter(recipe.name)
      const known = [
        ...Object.keys(agent?.tools ?? {}),
        ...(agent?.unmappedTools ?? []),
        ...(recipe.unhookedTools ?? []),
      ]
      const offered = offeredTools(stage)
      if (offered.length === 0) return seen(ran, 'no tool was offered')
      // Hookhelm uses the names of Claude Code.
      const missing = recipe.name === 'claude-code' ? [] : offered.filter((tool) => !known.includes(tool))
      return missing.length === 0 || `neither mapped nor listed: ${missing.join(', ')}`
    },
  },
  {
    name: 'recovery',
    about: 'a tool fails: a recovery rule starts a fallback run that succeeds, and the team has the message',
    steps: () => [FAILING_COMMAND],
    async run(stage, recipe) {
      if (recipe.cannot?.includes('recovery')) return 'not tried'
      const recovery = recoveryOf(await stage.up())
      await recovery.prepare(stage.project)
      stage.connect()
      const ran = await recipe.run(stage)
      const firing = await recovery.firing()
      if (firing === undefined)
        return seen(ran, `no rule fired, the events were ${await recovery.eventNames()}`)
      const prompt = await recovery.fallbackResult(firing.actions[0]?.run_id ?? '')
      if (!prompt?.includes('HH-NO-INK')) return seen(ran, `the fallback run was given ${prompt}`)
      const messages = await recovery.messages()
      if (messages.length !== 1 || !messages[0]?.includes('HH-NO-INK'))
        return seen(ran, `the mailbox has ${JSON.stringify(messages)}`)
      const agent = await recovery.agentOf(firing.event_id)
      return agent === recipe.name || seen(ran, `the event is of ${agent}`)
    },
  },
  {
    name: 'own rules',
    about: 'no objection grants nothing: what the agent itself forbids stays forbidden',
    async run(stage, recipe) {
      if (recipe.runUnpermitted === undefined) return 'not tried'
      await stage.up([on('pre_tool_use', () => undefined)])
      stage.connect()
      const ran = await recipe.runUnpermitted(stage)
      return blocked(stage, ran, modelAsked(stage))
    },
  },
]

/** The command itself names the secret, so only what came back from the tool counts. */
function resultsWith(stage: OpenStage, text: string): boolean {
  return stage.requests.some(({ body }) => {
    const withoutCommand = JSON.stringify(body ?? '').replaceAll(JSON.stringify(COMMAND).slice(1, -1), '')
    return withoutCommand.replaceAll(JSON.stringify(JSON.stringify(COMMAND)).slice(3, -3), '').includes(text)
  })
}
