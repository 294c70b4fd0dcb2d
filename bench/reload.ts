import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HookDefinition } from '../src/engine/hook-definition.ts'
import { WatchedFolder } from '../src/hook-files/watch/watched-folder.ts'
import { createHooks, type Handler, type Hooks } from '../src/index.ts'
import type { Figure } from './figure.ts'

const HOOKS = 1_000
const ROUNDS = 15
const payload = { tool_name: 'tool_7', tool_input: { command: 'ls' } }
const pass: Handler = { type: 'pass', read: (config) => config, run: () => undefined }

/** As people write it, in YAML; every round differs from the one before. */
function fileOf(round: number): string {
  const hook = (i: number) =>
    `  - id: hook-${i}\n    event: pre_tool_use\n    handler_type: pass\n    matcher: ^tool_${i}$\n    timeout_ms: ${5_000 + round}\n    config: { command: "check ${i}" }\n`
  return `version: 1\nhooks:\n${Array.from({ length: HOOKS }, (_, i) => hook(i)).join('')}`
}

/** From a finished file to its hooks in use, and what happened to the dispatches that went on all the while. */
export async function reloadFigures(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'hookhelm-reload-'))
  const hooks = createHooks({ handlers: [pass] })
  const apply = (_: unknown, definitions: readonly HookDefinition[]) => hooks.replace(folder, definitions)
  const state = new WatchedFolder(
    { level: 'user', label: 'user', folder },
    { apply, log() {}, handlers: [pass] },
  )
  try {
    put(folder, 0)
    state.load()
    const traffic = dispatching(hooks)
    const took: number[] = []
    for (let round = 1; round <= ROUNDS; round++) {
      put(folder, round)
      const before = performance.now()
      if (!state.reload(false)) throw new Error('the benchmark’s own file was refused')
      took.push(performance.now() - before)
      await new Promise((resolve) => setImmediate(resolve))
    }
    const { done, failed } = await traffic.stop()
    const median = took.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? Number.NaN
    const detail = `median of ${ROUNDS}, best ${Math.min(...took).toFixed(0)} ms, first ${took[0]?.toFixed(0)} ms`
    return [
      {
        name: 'reload of 1 000 hooks in YAML',
        value: median,
        unit: 'ms',
        goal: 100,
        better: 'at most',
        detail,
      },
      {
        name: 'dispatches that failed meanwhile',
        value: failed,
        unit: '×',
        goal: 0,
        better: 'at most',
        detail: `of ${done}`,
      },
    ]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function put(folder: string, round: number): void {
  writeFileSync(join(folder, '.new'), fileOf(round))
  renameSync(join(folder, '.new'), join(folder, 'hooks.yaml'))
}

/** A call must always find its hook: one that finds none would have slipped through. */
function dispatching(hooks: Hooks) {
  let running = true
  let done = 0
  let failed = 0
  const loop = async () => {
    while (running) {
      const { kind, trace } = await hooks.dispatch('pre_tool_use', payload, {}, { trace: true })
      done++
      if (
        kind !== 'allow' ||
        !trace?.hooks.some(({ hook, executions }) => hook === 'hook-7' && executions.length > 0)
      )
        failed++
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const loops = Array.from({ length: 4 }, loop)
  return {
    async stop() {
      running = false
      await Promise.all(loops)
      return { done, failed }
    },
  }
}
