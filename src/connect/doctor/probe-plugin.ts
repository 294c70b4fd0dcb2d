import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after } from '../../engine/core/after.ts'
import { isRecord } from '../../engine/core/check.ts'
import { systemClock } from '../../engine/core/clock.ts'
import { errorText } from '../../engine/core/error.ts'
import { runProcess } from '../../safe/process/run-process.ts'
import type { Finding, Where } from '../host.ts'
import { bad, doubtful, good } from './check.ts'
import type { Gateway } from './probe-calls.ts'
import type { BrokenGateways } from './silent-socket.ts'

interface PluginStage {
  readonly agent: string
  readonly file: string
  readonly where: Where
  readonly session: string
}

const SETTINGS = /(\/\* hookhelm:settings \*\/ )(\{.*\})/
const SHORT_MS = 500
const PATIENCE_MS = 70_000
const AGAIN = 'Run `hookhelm connect` again.'

/** What a host does with the plugin, as far as its gate before a tool call goes. The answer is one line of JSON. */
const HOST = `
const { agent, file, session, directory } = JSON.parse(process.argv[1])
const { pathToFileURL } = await import('node:url')
const say = (answer) => { process.stdout.write(JSON.stringify(answer)); process.exit(0) }
const module = await import(pathToFileURL(file))
if (agent === 'opencode') {
  const hooks = await module.Hookhelm({ directory, worktree: directory })
  try {
    const input = { tool: 'bash', sessionID: session, callID: session + '-call' }
    await hooks['tool.execute.before'](input, { args: { command: 'true' } })
    say({ passed: true })
  } catch (error) { say({ blocked: String(error.message) }) }
} else {
  const gates = new Map()
  module.default.register({ on: (name, run) => { gates.set(name, run) }, registerAgentToolResultMiddleware() {} })
  const event = { toolName: 'exec', params: { command: 'true' }, toolCallId: session + '-call' }
  const answer = await gates.get('before_tool_call')(event, { sessionId: session, sessionKey: session })
  say(answer?.block === true ? { blocked: String(answer.blockReason) } : { passed: true })
}`

/** Loads the plugin that the agent loads, and has its gate asked: through the real gateway, and without one. */
export async function probePlugin(
  stage: PluginStage,
  gateway: Gateway,
  broken: BrokenGateways,
): Promise<Finding[]> {
  const text = readPlugin(stage.file)
  const settings = text === undefined ? undefined : settingsIn(text)
  if (text === undefined || settings === undefined)
    return [bad(`${stage.file} is not there, or is no plugin of ours`, AGAIN)]
  const changed = (name: string, fields: object) => {
    const file = join(dirname(broken.spool), `${stage.agent}-${name}.mjs`)
    mkdirSync(dirname(file), { recursive: true })
    const next = JSON.stringify({ ...settings, spool: broken.spool, ...fields })
    writeFileSync(
      file,
      text.replace(SETTINGS, (_, mark: string) => `${mark}${next}`),
    )
    return { ...stage, file }
  }
  const down = await ask(changed('dead', { socket: broken.dead }))
  const slow = await ask(changed('silent', { socket: broken.silent, within: SHORT_MS }))
  const isOpen = settings.failOpen === true
  return [
    await live(stage, String(settings.socket), gateway),
    closed(down, 'nobody listens', isOpen),
    closed(slow, 'the gateway does not answer in time', isOpen),
  ]
}

async function live(stage: PluginStage, socket: string, gateway: Gateway): Promise<Finding> {
  if (!(await gateway.answers(socket)))
    return bad(`no gateway listens on ${socket}`, 'Start it with `hookhelm up`.')
  const answer = await ask(stage)
  const known = await gateway.knows(stage.session)
  if ('failed' in answer) return bad(`the plugin could not be run: ${answer.failed}`, AGAIN)
  if (known === true) return good('a tool call passes the hooks')
  const words = 'blocked' in answer ? `: ${answer.blocked}` : ''
  return known === false
    ? bad(`a tool call did not reach the history of the gateway${words}`, 'Look at the log of the gateway.')
    : doubtful(
        `a tool call was answered${words}; the history could not be asked`,
        'Set HOOKHELM_URL and HOOKHELM_TOKEN.',
      )
}

function closed(answer: Answer, when: string, isOpen: boolean): Finding {
  if ('failed' in answer) return bad(`the plugin could not be run when ${when}: ${answer.failed}`, AGAIN)
  if ('blocked' in answer) return good(`a tool call is blocked when ${when}`)
  return isOpen
    ? doubtful(
        `a tool call goes on when ${when}: it was connected with --fail-open`,
        'Connect it again without.',
      )
    : bad(`a tool call would go on when ${when}`, AGAIN)
}

type Answer = { readonly passed: true } | { readonly blocked: string } | { readonly failed: string }

async function ask({ agent, file, where, session }: PluginStage): Promise<Answer> {
  const stopped = new AbortController()
  const callOff = after(systemClock, PATIENCE_MS, () => stopped.abort())
  try {
    const about = JSON.stringify({ agent, file, session, directory: where.project })
    const env = Object.fromEntries(
      Object.entries(where.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
    )
    const argv = [process.execPath, '--input-type=module', '--eval', HOST, about]
    const { stdout, stderr } = await runProcess({ argv, cwd: where.project, env }, stopped.signal)
    const answer: unknown = stdout === '' ? undefined : JSON.parse(stdout)
    if (!isRecord(answer)) return { failed: stderr.trim().split('\n').at(-1) ?? 'it said nothing' }
    return typeof answer.blocked === 'string' ? { blocked: answer.blocked } : { passed: true }
  } catch (thrown) {
    return { failed: errorText(thrown) }
  } finally {
    callOff()
  }
}

function readPlugin(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

function settingsIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const found: unknown = JSON.parse(SETTINGS.exec(text)?.[2] ?? 'null')
    return isRecord(found) ? found : undefined
  } catch {
    return undefined
  }
}
