/** The worker thread of a sandbox: one fresh QuickJS runtime per call. */
import { parentPort } from 'node:worker_threads'
import {
  DefaultIntrinsics,
  newQuickJSWASMModuleFromVariant,
  type QuickJSContext,
  type QuickJSRuntime,
} from 'quickjs-emscripten-core'
import { systemClock } from '../../engine/core/time/clock.ts'
import { preamble } from './preamble.ts'
import type { SandboxAnswer, SandboxCall } from './sandbox.ts'

const MEMORY_BYTES = 16 * 1024 * 1024
const STACK_BYTES = 256 * 1024

// Promises stay in, because the runtime breaks on async functions without them; the preamble hides them from scripts.
const intrinsics = { ...DefaultIntrinsics, Proxy: false, MapSet: false, TypedArrays: false }

const quickjs = await newQuickJSWASMModuleFromVariant(import('@jitl/quickjs-wasmfile-release-sync'))

function answerCall(call: SandboxCall): SandboxAnswer {
  const runtime = quickjs.newRuntime()
  runtime.setMemoryLimit(MEMORY_BYTES)
  runtime.setMaxStackSize(STACK_BYTES)
  let expired = false
  const end = systemClock.elapsed() + call.timeoutMs
  runtime.setInterruptHandler(() => {
    expired = systemClock.elapsed() > end
    return expired
  })
  try {
    return evaluate(runtime, call, () => expired)
  } finally {
    runtime.dispose()
  }
}

function evaluate(runtime: QuickJSRuntime, call: SandboxCall, isExpired: () => boolean): SandboxAnswer {
  const context = runtime.newContext({ intrinsics })
  try {
    const json = context.newString(call.event)
    context.setProp(context.global, '__event', json)
    json.dispose()
    const before = run(context, preamble, 'preamble.js')
    if (before.kind !== 'value') return { kind: 'error', text: before.text, printed: '' }
    // Strict mode makes writes to the frozen event throw. It is on the first line to keep the author's line numbers.
    const loaded = run(
      context,
      `"use strict";${call.source}\n;__setHandle(typeof handle === "function" ? handle : undefined)`,
      'hook.js',
    )
    const answer = loaded.kind === 'value' ? run(context, '__answer()', 'hook.js') : loaded
    if (isExpired()) return { kind: 'timeout', printed: printed(context) }
    if (answer.kind === 'error') return { kind: 'error', text: answer.text, printed: printed(context) }
    return { kind: 'answer', json: answer.text, printed: printed(context) }
  } finally {
    context.dispose()
  }
}

function run(
  context: QuickJSContext,
  source: string,
  file: string,
): { kind: 'value' | 'error'; text: string } {
  const result = context.evalCode(source, file)
  if (result.error) {
    const text = describe(context.dump(result.error))
    result.error.dispose()
    return { kind: 'error', text }
  }
  const value: unknown = context.dump(result.value)
  result.value.dispose()
  return { kind: 'value', text: typeof value === 'string' ? value : '' }
}

/** The author's line and what went wrong, without a stack. */
function describe(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error)
  const { name, message, stack }: { name?: unknown; message?: unknown; stack?: unknown } = error
  const place = /hook\.js:(\d+(?::\d+)?)/.exec(String(stack))?.[1]
  const text = `${String(name)}: ${String(message)}`.split(/\n| at /)[0] ?? ''
  return place === undefined ? text : `${text} (line ${place})`
}

function printed(context: QuickJSContext): string {
  return run(context, '__printed()', 'preamble.js').text
}

parentPort?.on('message', (call: SandboxCall) => {
  try {
    parentPort?.postMessage(answerCall(call))
  } catch (thrown) {
    // The runtime itself broke, so this thread must not be used again.
    parentPort?.postMessage({ kind: 'broken', text: String(thrown), printed: '' } satisfies SandboxAnswer)
  }
})
