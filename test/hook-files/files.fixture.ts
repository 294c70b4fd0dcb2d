import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder of its own for one test, gone afterwards. */
export function scratchFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hookhelm-config-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export function write(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

/** A hook file with these hooks, each of which answers its own config. */
export function hooksYaml(...ids: readonly string[]): string {
  if (ids.length === 0) return 'hooks: []\n'
  const hook = (id: string) =>
    `  - id: ${id}\n    event: pre_tool_use\n    handler_type: says\n    config: ${id}\n`
  return `version: 1\nhooks:\n${ids.map(hook).join('')}`
}
