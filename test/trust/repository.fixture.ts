import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { readHookText } from '../../src/hook-files/read/read-hook-file.ts'
import { trustStore } from '../../src/hook-files/trust.ts'
import { recordScripts } from '../../src/hook-files/trusted-scripts.ts'

/** A folder of its own, gone when the test is over. */
export function scratch(whenDone: (clean: () => void) => void = onTestFinished): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hookhelm-trust-')))
  whenDone(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export function write(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

/** A hook file with one hook that blocks every tool call with this reason. */
export function blocking(reason: string): string {
  const source = `function handle() { return { decision: 'block', reason: '${reason}' } }`
  return `hooks:\n  - { id: guard, event: pre_tool_use, handler_type: script, config: { source: "${source}" } }\n`
}

/** Trusts a hook file as `hookhelm trust` does. */
export function trustFileAt(home: string, path: string, text: string): void {
  const read = readHookText(text, path)
  const scripts = read.kind === 'good' ? recordScripts(read.file.hooks, dirname(path)) : {}
  trustStore(join(home, 'trust.json')).trust(path, text, scripts)
}
