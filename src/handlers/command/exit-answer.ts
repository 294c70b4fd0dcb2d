import { constants } from 'node:os'
import type { HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import type { HandlerCall } from '../../engine/core/handler.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import type { ProcessResult } from '../../safe/process/process-spec.ts'
import { redact } from '../../safe/secrets/redact.ts'
import { readAnswer } from '../read-answer.ts'
import { createRefusal, redactLines } from '../refusal.ts'
import type { CommandConfig } from './command-config.ts'

type Call = HandlerCall<CommandConfig>
type AnsweringCall = Pick<Call, 'config' | 'payload' | 'context' | 'hook'>

/** On these events coding agents give the model the text that a hook prints. */
const textIsContext = ['session_start', 'user_prompt_submit', 'subagent_start']
const BLOCK = 2

/**
 * 0 reads stdout, 2 blocks with stderr as the reason, anything else is an error. The agent that the hook was written for
 * may read further exit codes.
 */
export function readExit(result: ProcessResult, call: AnsweringCall, sent: string): unknown {
  assertFinished(result)
  const { exitCode = 0, stdout, stderr } = result
  const shape = call.config.shape?.shape
  const answer = shape?.answerText?.(result) ?? stdout
  if (exitCode === 0) return readAnswer(answer, call, { sent, textIsContext })
  const hasText = `${stdout}${stderr}`.trim() !== ''
  if (exitCode === BLOCK || (hasText && shape?.blocksOnExit?.(exitCode)))
    return readBlock(answer, stderr, call)
  const failed = shape?.readsFailedOutput ? readFailedAnswer(answer, call) : undefined
  if (failed !== undefined) return failed
  throw exitError(result)
}

/** A decision that a failed command printed. Without one the failure counts. */
function readFailedAnswer(answer: string, call: AnsweringCall): unknown {
  if (!answer.trim().startsWith('{')) return undefined
  try {
    return readAnswer(answer, call)
  } catch {
    return undefined
  }
}

/** A command that exits with 2 may give its reason as JSON on stdout, as in coding agents. */
function readBlock(stdout: string, stderr: string, call: AnsweringCall): unknown {
  if (stderr.trim() === '' && stdout.trim().startsWith('{')) {
    try {
      const answer = readAnswer(stdout, call)
      if (isRecord(answer) && answer.kind === 'block') return answer
    } catch {
      // Exit code 2 blocks even if stdout cannot be read.
    }
  }
  const text = stderr.trim() === '' ? stdout : stderr
  return createRefusal('block', { reason: text, message: redactLines(text) }, call.hook)
}

/** OpenHarness: every exit code except 0 is a failure, and a failure blocks only if the hook may block. */
export function readOpenHarnessExit(result: ProcessResult, call: Call): unknown {
  const { config, context, hook } = call
  const { exitCode, signal, stdout, stderr, truncated } = result
  if (exitCode === 0 && !truncated) return undefined
  const output = config.format === 'openharness-seed' ? [stdout] : [stdout, stderr]
  const lines = output.map((part) => part.trim()).filter((part) => part !== '')
  const text = redactLines(lines.join('\n')) || `command hook failed with exit code ${exitCode ?? signal}`
  if (config.mayBlock) return createRefusal('block', { reason: text }, hook)
  // Without `on_error: allow` the engine would block on a thrown error, so the failure is only reported.
  if (hook.on_error !== 'allow') return context.report({ failed: true })
  assertFinished(result)
  throw exitError(result)
}

function assertFinished({ truncated, exitCode, signal }: ProcessResult): void {
  if (truncated)
    throw handlerError('process.output_limit', 'the command wrote too much output and was killed')
  const name = signal ?? signalOf(exitCode ?? 0)
  if (name !== undefined) throw handlerError('process.signal', `the command was ended by ${name}`)
}

/** A shell reports a signal that ended its command as an exit code above 128. */
function signalOf(exitCode: number): string | undefined {
  if (exitCode <= 128) return undefined
  return Object.entries(constants.signals).find(([, number]) => number === exitCode - 128)?.[0]
}

function exitError({ exitCode, stdout, stderr }: ProcessResult): HookError {
  const output = redact(stderr) || redact(stdout)
  // The cause has the whole output, for stores that encrypt it. The message may be shown.
  const cause = [stderr, stdout].filter((text) => text !== '').join('\n')
  return handlerError('process.exit', `command exited ${exitCode}${output === '' ? '' : `: ${output}`}`, {
    ...(cause === '' ? {} : { cause }),
  })
}
