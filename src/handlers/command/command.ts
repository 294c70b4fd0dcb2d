import { existsSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { HookContext } from '../../engine/core/context.ts'
import { type Edition, runsCommands } from '../../engine/core/edition.ts'
import { HookError } from '../../engine/core/error.ts'
import type { Handler, HandlerCall } from '../../engine/core/handler.ts'
import { childEnvironment, resolveDirectory } from '../../safe/process/child-environment.ts'
import type { ProcessResult } from '../../safe/process/process-spec.ts'
import { type Processes, processes as shared } from '../../safe/process/run-process.ts'
import { redact } from '../../safe/redact.ts'
import { redactLines } from '../block-answer.ts'
import { anyPlaceholder, placeholderValue } from '../placeholders.ts'
import { readReply } from '../read-answer.ts'
import { toWireEvent, type WireEvent } from '../wire-event.ts'
import { type CommandConfig, readCommandConfig } from './config.ts'
import { exitAnswer, openHarnessAnswer } from './exit-answer.ts'
import type { WorkerOptions } from './worker.ts'
import { Workers } from './workers.ts'

export interface CommandHandlerOptions {
  readonly processes?: Processes
  readonly edition?: Edition
  /** Commands may run in no other directory, links followed. */
  readonly workspaceRoot?: string
  /**
   * `false`: a command without a directory of its own runs where we run. Whoever sends events to a gateway could otherwise
   * choose which `./check.sh` decides about them.
   */
  readonly followsSession?: boolean
  readonly workers?: WorkerOptions
  /** For somebody who tries a hook out: more of what it printed, line by line. Rows keep one short line. */
  readonly showsOutput?: boolean
}

export interface CommandHandler extends Handler<CommandConfig> {
  /** Ends the workers; settles when they are gone. */
  dispose(): Promise<void>
}

type Call = HandlerCall<CommandConfig>

/** Read further than is shown: a secret cut in two would not look like one. */
const MAX_READ = 16_384
const MAX_SHOWN = 4_096

/** Runs a shell line or a program: the event on stdin, the decision by exit code and stdout. */
export function createCommandHandler(options: CommandHandlerOptions = {}): CommandHandler {
  const {
    processes = shared,
    edition = 'lite',
    workspaceRoot,
    followsSession = true,
    showsOutput = false,
  } = options
  const workers = new Workers(workspaceRoot, options.workers)
  return {
    type: 'command',
    timeoutCode: 'process.timeout',
    read(config, hook) {
      refuseEdition(edition)
      return readCommandConfig(config, hook)
    },
    async run(call) {
      refuseEdition(edition)
      const event = toWireEvent(call.payload, call.context)
      if (call.config.worker) {
        const worker = await workers.of(call.config, call.hook)
        return readReply(await worker.ask(event, call.context.signal), call)
      }
      const cwd = await directoryFor(call, workspaceRoot, followsSession)
      const sent = JSON.stringify(event)
      const spec = {
        argv: argvOf(call.config, event),
        cwd,
        env: envOf(call, event, sent),
        stdin: `${sent}\n`,
      }
      const result = await processes.run(spec, call.context.signal)
      reportTo(call.context, result, showsOutput)
      return call.config.format === 'hookhelm'
        ? exitAnswer(result, call, sent)
        : openHarnessAnswer(result, call)
    },
    dispose: () => workers.dispose(),
  }
}

/** Asked when a hook is saved and again when it runs: a row may have come from elsewhere. */
function refuseEdition(edition: Edition): void {
  if (!runsCommands(edition))
    throw new HookError('handler.not_in_edition', `the ${edition} edition runs no command hooks`)
}

/** The configured directory must be there. The session's own is used where it exists: it may be on another machine. */
async function directoryFor(
  { config, context }: Call,
  root: string | undefined,
  followsSession: boolean,
): Promise<string> {
  if (config.cwd !== undefined) return resolveDirectory(config.cwd, root)
  const { cwd } = context.envelope
  const fallback = root ?? process.cwd()
  if (!followsSession || cwd === undefined || !isAbsolute(cwd) || !existsSync(cwd)) return fallback
  return resolveDirectory(cwd, root)
}

function argvOf({ argv, inArgv }: CommandConfig, event: WireEvent): readonly string[] {
  const fill = (found: string) => {
    const name = inArgv.find((known) => known === found)
    return name === undefined ? found : placeholderValue(name, event)
  }
  return inArgv.length === 0 ? argv : argv.map((text) => text.replace(anyPlaceholder, fill))
}

function envOf({ config, context }: Call, event: WireEvent, sent: string): Record<string, string> {
  const values = Object.entries(config.variables).map(([name, of]) => [name, placeholderValue(of, event)])
  return childEnvironment(config.allowedEnv, {
    HOOKHELM_EVENT: context.event,
    ...(config.format === 'hookhelm'
      ? {}
      : { OPENHARNESS_HOOK_EVENT: context.event, OPENHARNESS_HOOK_PAYLOAD: sent }),
    ...Object.fromEntries(values),
  })
}

function reportTo(context: HookContext, result: ProcessResult, showsOutput: boolean): void {
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
