import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  badFinding,
  type HostFinding,
  type HostPaths,
  okFinding,
  warnFinding,
} from '../../agents/agent-host.ts'
import { errorText } from '../../engine/core/errors/error.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { after } from '../../engine/core/time/after.ts'
import { systemClock } from '../../engine/core/time/clock.ts'
import { runProcess } from '../../safe/process/run-process.ts'
import type { BrokenGateways } from './broken-gateways.ts'
import type { ProbedGateway } from './probe-commands.ts'

interface PluginProbe {
  readonly agent: string
  readonly file: string
  readonly paths: HostPaths
  readonly session: string
  /** What to do to have the plugin written again. */
  readonly reconnect: string
}

const SETTINGS = /(\/\* hookhelm:settings \*\/ )(\{.*\})/
const SHORT_MS = 500
const TIMEOUT_MS = 70_000

/** Loads the plugin like its host does, calls its gate before a tool call, and prints the result as JSON. */
const HOST_SCRIPT = `
const { agent, file, session, directory } = JSON.parse(process.argv[1])
const { pathToFileURL } = await import('node:url')
const finish = (answer) => { process.stdout.write(JSON.stringify(answer)); process.exit(0) }
const module = await import(pathToFileURL(file))
if (agent === 'opencode') {
  const hooks = await module.Hookhelm({ directory, worktree: directory })
  try {
    const input = { tool: 'bash', sessionID: session, callID: session + '-call' }
    await hooks['tool.execute.before'](input, { args: { command: 'true' } })
    finish({ passed: true })
  } catch (error) { finish({ blocked: String(error.message) }) }
} else {
  const gates = new Map()
  module.default.register({ on: (name, run) => { gates.set(name, run) }, registerAgentToolResultMiddleware() {} })
  const event = { toolName: 'exec', params: { command: 'true' }, toolCallId: session + '-call' }
  const answer = await gates.get('before_tool_call')(event, { sessionId: session, sessionKey: session })
  finish(answer?.block === true ? { blocked: String(answer.blockReason) } : { passed: true })
}`

/** Runs the plugin's gate against the running gateway, and without a working one. */
export async function probePlugin(
  probe: PluginProbe,
  gateway: ProbedGateway,
  broken: BrokenGateways,
): Promise<HostFinding[]> {
  const text = readPlugin(probe.file)
  const settings = text === undefined ? undefined : settingsIn(text)
  if (text === undefined || settings === undefined)
    return [badFinding(`${probe.file} does not exist, or Hookhelm did not write it`, probe.reconnect)]
  const withSettings = (name: string, fields: object) => {
    const file = join(dirname(broken.spool), `${probe.agent}-${name}.mjs`)
    mkdirSync(dirname(file), { recursive: true })
    const next = JSON.stringify({ ...settings, spool: broken.spool, ...fields })
    writeFileSync(
      file,
      text.replace(SETTINGS, (_, mark: string) => `${mark}${next}`),
    )
    return { ...probe, file }
  }
  const unloadable = await findParseError(probe)
  if (unloadable !== undefined) return [unloadable]
  const { reconnect } = probe
  const down = await runPlugin(withSettings('dead', { socket: broken.dead }))
  const slow = await runPlugin(withSettings('silent', { socket: broken.silent, within: SHORT_MS }))
  const isOpen = settings.failOpen === true
  return [
    await probeGateway(probe, String(settings.socket), gateway),
    checkBlocked(down, 'no gateway listens', { isOpen, reconnect }),
    checkBlocked(slow, 'the gateway does not answer in time', { isOpen, reconnect }),
  ]
}

async function probeGateway(
  probe: PluginProbe,
  socket: string,
  gateway: ProbedGateway,
): Promise<HostFinding> {
  if (!(await gateway.isListening(socket)))
    return badFinding(`no gateway listens on ${socket}`, 'Start it with `hookhelm up`.')
  const answer = await runPlugin(probe)
  const known = await gateway.hasSession(probe.session)
  if ('failed' in answer) return badFinding(`the plugin does not run: ${answer.failed}`, probe.reconnect)
  if (known === true) return okFinding('a tool call passes the hooks')
  const reason = 'blocked' in answer ? `: ${answer.blocked}` : ''
  return known === false
    ? badFinding(`a tool call is missing in the gateway's history${reason}`, 'Read the log of the gateway.')
    : warnFinding(
        `a tool call was answered${reason}; the gateway's history cannot be read`,
        'Set HOOKHELM_URL and HOOKHELM_TOKEN.',
      )
}

/** OpenCode skips a plugin that it cannot parse without a message, and every call passes. */
async function findParseError({ file, paths, reconnect }: PluginProbe): Promise<HostFinding | undefined> {
  const script = "import('node:url').then(({ pathToFileURL }) => import(pathToFileURL(process.argv[1])))"
  const { failed } = await runNode(['--eval', script, file], paths)
  return failed === undefined
    ? undefined
    : badFinding(`${file} cannot be loaded, so every call passes: ${failed}`, reconnect)
}

interface BlockCheck {
  readonly isOpen: boolean
  readonly reconnect: string
}

function checkBlocked(answer: PluginAnswer, when: string, { isOpen, reconnect }: BlockCheck): HostFinding {
  if ('failed' in answer)
    return badFinding(`the plugin does not run when ${when}: ${answer.failed}`, reconnect)
  if ('blocked' in answer) return okFinding(`a tool call is blocked when ${when}`)
  return isOpen
    ? warnFinding(
        `a tool call passes when ${when}: the agent is connected with --fail-open`,
        'Connect it again without --fail-open.',
      )
    : badFinding(`a tool call passes when ${when}`, reconnect)
}

type PluginAnswer = { readonly passed: true } | { readonly blocked: string } | { readonly failed: string }

async function runPlugin({ agent, file, paths, session }: PluginProbe): Promise<PluginAnswer> {
  const about = JSON.stringify({ agent, file, session, directory: paths.project })
  const { failed, stdout } = await runNode(['--input-type=module', '--eval', HOST_SCRIPT, about], paths)
  if (failed !== undefined) return { failed }
  try {
    const answer: unknown = JSON.parse(stdout)
    if (!isRecord(answer)) return { failed: 'it printed no answer' }
    return typeof answer.blocked === 'string' ? { blocked: answer.blocked } : { passed: true }
  } catch {
    return { failed: 'it printed no answer' }
  }
}

interface NodeRun {
  readonly stdout: string
  readonly failed?: string
}

/** The doctor's own environment must not add output. */
async function runNode(args: readonly string[], { env, project }: HostPaths): Promise<NodeRun> {
  const abort = new AbortController()
  const cancelTimeout = after(systemClock, TIMEOUT_MS, () => abort.abort())
  try {
    const variables = Object.entries(env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && entry[0] !== 'NODE_OPTIONS',
    )
    const argv = [process.execPath, ...args]
    const run = await runProcess({ argv, cwd: project, env: Object.fromEntries(variables) }, abort.signal)
    return run.exitCode === 0
      ? { stdout: run.stdout }
      : { stdout: '', failed: errorLine(run.stderr) ?? `it ended with ${run.exitCode}` }
  } catch (thrown) {
    return { stdout: '', failed: errorText(thrown) }
  } finally {
    cancelTimeout()
  }
}

/** The line of a stack trace that names the error. */
function errorLine(stderr: string): string | undefined {
  return stderr.split('\n').find((line) => /^\w*Error\b/.test(line))
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
