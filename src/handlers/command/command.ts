import { existsSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { HookContext } from '../../engine/core/context.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import type { HandlerCall } from '../../engine/core/handler.ts'
import { type Edition, runsCommands } from '../../engine/core/values/edition.ts'
import { assertPinnedFiles } from '../../safe/pinned-file.ts'
import { childEnvironment, resolveDirectory } from '../../safe/process/child-environment.ts'
import type { ProcessResult } from '../../safe/process/process-spec.ts'
import { type Processes, processes as sharedProcesses } from '../../safe/process/run-process.ts'
import { redact } from '../../safe/secrets/redact.ts'
import { defineHandlerType } from '../handler-type.ts'
import { type FindPayloadShape, type OutgoingEvent, outgoingEvent } from '../payload-shapes.ts'
import { anyPlaceholder, placeholderValue } from '../placeholders.ts'
import { readAnswerObject } from '../read-answer.ts'
import { redactLines } from '../refusal.ts'
import type { WireEvent } from '../wire-event.ts'
import { type CommandConfig, commandSchema, readCommandConfig } from './command-config.ts'
import { readExit, readOpenHarnessExit } from './exit-answer.ts'
import { type WorkerOptions, Workers } from './worker.ts'

export interface CommandHandlerOptions {
  readonly processes?: Processes
  readonly edition?: Edition
  /** Commands may run in no other directory, links followed. */
  readonly workspaceRoot?: string
  /**
   * `false`: a command without a `cwd` runs in our own directory. Otherwise the sender of an event chooses the directory
   * and with it which `./check.sh` decides.
   */
  readonly followsSession?: boolean
  readonly workers?: WorkerOptions
  /** The forms of events for hooks that were written for an agent. */
  readonly findPayloadShape?: FindPayloadShape
  /** For dry runs: report more of the output, with its lines. */
  readonly showsOutput?: boolean
}

type Call = HandlerCall<CommandConfig>

/** More is redacted than shown, because half of a secret does not look like one. */
const MAX_READ = 16_384
const MAX_SHOWN = 4_096

export const commandHandler = defineHandlerType({
  type: 'command',
  about: 'Runs a shell line or a program: the event on stdin, the decision in the exit code and on stdout.',
  schema: commandSchema,
  create(options: CommandHandlerOptions) {
    const { processes = sharedProcesses, edition = 'lite', workspaceRoot, followsSession = true } = options
    const workers = new Workers(workspaceRoot, options.workers)
    return {
      timeoutCode: 'process.timeout',
      read(settings) {
        assertEdition(edition)
        return readCommandConfig(settings, options.findPayloadShape)
      },
      async run(call) {
        assertEdition(edition)
        // The sender of an event must not choose the folder whose scripts a command starts.
        const project = followsSession ? undefined : (call.config.cwd ?? process.cwd())
        const outgoing = outgoingEvent(call, project)
        const { event, seen, readResult } = outgoing
        if (call.config.worker) {
          assertPinnedFiles(call.config.pinnedFiles, call.config.cwd ?? workspaceRoot ?? process.cwd())
          const worker = await workers.get(call.config, call.hook)
          return readResult(readAnswerObject(await worker.ask(event, call.context.signal), seen))
        }
        const cwd = await findDirectory(call, workspaceRoot, followsSession)
        assertPinnedFiles(call.config.pinnedFiles, cwd)
        const sent = JSON.stringify(event)
        const spec = {
          argv: fillArgv(call.config, event),
          cwd,
          env: createEnvironment(call, outgoing, sent),
          stdin: `${sent}\n`,
        }
        const result = await processes.run(spec, call.context.signal)
        reportResult(call.context, result, options.showsOutput === true)
        return call.config.format === 'hookhelm'
          ? readResult(readExit(result, { ...seen, config: call.config }, sent))
          : readOpenHarnessExit(result, call)
      },
      dispose: () => workers.dispose(),
    }
  },
})

/** Checked when a hook is registered and when it runs, because a stored hook may come from another edition. */
function assertEdition(edition: Edition): void {
  if (!runsCommands(edition))
    throw handlerError('handler.not_in_edition', `the ${edition} edition runs no command hooks`)
}

/** A configured directory must exist. The session's directory may be on another machine, so it is optional. */
async function findDirectory(
  { config, context }: Call,
  root: string | undefined,
  followsSession: boolean,
): Promise<string> {
  if (config.cwd !== undefined) return resolveDirectory(config.cwd, root)
  const { cwd: own, project } = context.envelope
  const cwd = config.shape?.shape.runsInProject ? (project ?? own) : own
  const fallback = root ?? process.cwd()
  if (!followsSession || cwd === undefined || !isAbsolute(cwd) || !existsSync(cwd)) return fallback
  return resolveDirectory(cwd, root)
}

function fillArgv({ argv, inArgv }: CommandConfig, event: WireEvent): readonly string[] {
  const fill = (found: string) => {
    const name = inArgv.find((known) => known === found)
    return name === undefined ? found : placeholderValue(name, event)
  }
  return inArgv.length === 0 ? argv : argv.map((text) => text.replace(anyPlaceholder, fill))
}

function createEnvironment(
  { config, context }: Call,
  { event, env }: OutgoingEvent,
  sent: string,
): Record<string, string> {
  const values = Object.entries(config.variables).map(([name, placeholder]) => [
    name,
    placeholderValue(placeholder, event),
  ])
  return childEnvironment(config.allowedEnv, {
    ...env,
    HOOKHELM_EVENT: context.event,
    ...(config.format === 'hookhelm'
      ? {}
      : { OPENHARNESS_HOOK_EVENT: context.event, OPENHARNESS_HOOK_PAYLOAD: sent }),
    ...Object.fromEntries(values),
  })
}

function reportResult(context: HookContext, result: ProcessResult, showsOutput: boolean): void {
  const { exitCode, signal, stdoutBytes, stderrBytes, truncated } = result
  const kept = truncated ? MAX_SHOWN : undefined
  const shown = (text: string) =>
    showsOutput ? redactLines(text.slice(0, MAX_READ)).trimEnd().slice(0, MAX_SHOWN) : redact(text, kept)
  const stdout = shown(result.stdout)
  const stderr = shown(result.stderr)
  context.report({
    ...(exitCode === undefined ? {} : { exit_code: exitCode }),
    ...(signal === undefined ? {} : { signal }),
    stdout_len: stdoutBytes,
    stderr_len: stderrBytes,
    ...(stdout === '' ? {} : { stdout }),
    ...(stderr === '' ? {} : { stderr }),
  })
}
