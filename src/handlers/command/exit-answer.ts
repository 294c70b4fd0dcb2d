import { constants } from 'node:os'
import { HookError } from '../../engine/core/error.ts'
import type { HandlerCall } from '../../engine/core/handler.ts'
import type { ProcessResult } from '../../safe/process/process-spec.ts'
import { redact } from '../../safe/redact.ts'
import { redactLines, refusal } from '../block-answer.ts'
import { readAnswer } from '../read-answer.ts'
import type { CommandConfig } from './config.ts'

type Call = HandlerCall<CommandConfig>

/** Coding agents give the model what such a hook prints. */
const textIsContext = ['session_start', 'user_prompt_submit', 'subagent_start']
const BLOCK = 2

/** 0 reads stdout, 2 blocks with stderr as the reason, anything else is an error. */
export function exitAnswer(result: ProcessResult, call: Call, sent: string): unknown {
  refuseUnfinished(result)
  const { exitCode, stdout, stderr } = result
  if (exitCode === 0) return readAnswer(stdout, call, { sent, textIsContext })
  if (exitCode === BLOCK) return blocked(stdout, stderr, call)
  throw failed(result)
}

/** A command that ends with 2 may still say why in JSON, as coding agents let it. */
function blocked(stdout: string, stderr: string, call: Call): unknown {
  if (stderr.trim() === '' && stdout.trim().startsWith('{')) {
    try {
      const answer = readAnswer(stdout, call)
      if (isBlock(answer)) return answer
    } catch {
      // It blocks all the same.
    }
  }
  const text = stderr.trim() === '' ? stdout : stderr
  return refusal('block', { reason: text, message: redactLines(text) }, call.hook)
}

function isBlock(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && 'kind' in answer && answer.kind === 'block'
}

/** OpenHarness: every code but 0 is a failure, and a failure blocks only where the hook may. */
export function openHarnessAnswer(result: ProcessResult, call: Call): unknown {
  const { config, context, hook } = call
  const { exitCode, signal, stdout, stderr, truncated } = result
  if (exitCode === 0 && !truncated) return undefined
  const output = config.format === 'openharness-seed' ? [stdout] : [stdout, stderr]
  const said = output.map((part) => part.trim()).filter((part) => part !== '')
  const text = redactLines(said.join('\n')) || `command hook failed with exit code ${exitCode ?? signal}`
  if (config.mayBlock) return refusal('block', { reason: text }, hook)
  // The engine counts and shows what a policy let pass; without one the failure must not close the gate.
  if (hook.on_error !== 'allow') return context.report({ failed: true })
  refuseUnfinished(result)
  throw failed(result)
}

function refuseUnfinished({ truncated, exitCode, signal }: ProcessResult): void {
  if (truncated)
    throw new HookError('process.output_limit', 'the command wrote more than it may and was killed')
  const name = signal ?? signalOf(exitCode ?? 0)
  if (name !== undefined) throw new HookError('process.signal', `the command was ended by ${name}`)
}

/** A shell tells by an exit code above 128 that a signal ended the command it ran. */
function signalOf(exitCode: number): string | undefined {
  if (exitCode <= 128) return undefined
  return Object.entries(constants.signals).find(([, number]) => number === exitCode - 128)?.[0]
}

function failed({ exitCode, stdout, stderr }: ProcessResult): HookError {
  const said = redact(stderr) || redact(stdout)
  // Whole, for whoever keeps it encrypted; the message is what may be shown.
  const cause = [stderr, stdout].filter((text) => text !== '').join('\n')
  return new HookError('process.exit', `command exited ${exitCode}${said === '' ? '' : `: ${said}`}`, {
    ...(cause === '' ? {} : { cause }),
  })
}
