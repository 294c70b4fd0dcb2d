import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { hookFileIn } from '../config/hook-folders.ts'
import { readHookText } from '../config/read/read-hook-file.ts'
import { SCHEMA_URL } from '../config/schema/json-schema.ts'
import { handlerError } from '../engine/core/handler-errors.ts'
import { command, type ExitCode, exitCodes } from './command.ts'
import { printMessage, printOutput } from './output.ts'
import { protectedPaths, protectHook } from './protect-hook.ts'
import { trustHooks } from './trust.ts'

export const initCommand = command({
  args: {
    protect: {
      type: 'boolean',
      description: 'also write a hook that keeps agents from changing hooks and hook settings',
    },
    yes: { type: 'boolean', description: 'write everything that would be offered' },
  },
  async run(args) {
    const folder = join(resolve(args.cwd ?? '.'), '.hookhelm')
    const existing = existsSync(folder) ? hookFileIn(folder) : undefined
    const isProtected = args.protect ?? (args.yes || (existing === undefined && (await offerProtection())))
    const guard = isProtected ? protectHook(protectedPaths(process.env)) : ''
    if (existing !== undefined) return refuseExisting(existing, guard)
    mkdirSync(folder, { recursive: true })
    const path = join(folder, 'hooks.yaml')
    const text = guard === '' ? exampleFile : `${exampleFile}\n${guard}`
    writeFileSync(path, text, { flag: 'wx', mode: 0o644 })
    const read = readHookText(text, path)
    // The user has just written this file, so there is nothing to review.
    trustHooks(path, text, read.kind === 'good' ? read.file.hooks : [])
    if (args.json) printOutput({ file: path })
    printMessage(`written and trusted: ${path}\n\nTry it:\n${nextSteps}`)
    if (guard === '') printMessage(`\n${OFFER}: hookhelm init --protect`)
    return exitCodes.ok
  },
})

const OFFER = 'A hook that keeps agents from changing hooks and hook settings'

/** A file of the user is never changed. Lines that it could have are printed, to be added by hand. */
function refuseExisting(file: string, guard: string): ExitCode {
  if (guard === '') throw handlerError('config.exists', `${file} exists already`)
  printOutput(guard)
  printMessage(`${file} exists already; add these lines to its hooks, then run \`hookhelm trust\``)
  return exitCodes.ok
}

async function offerProtection(): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return !/^\s*n/i.test(await terminal.question(`${OFFER}: write it too? [Y/n] `))
  } finally {
    terminal.close()
  }
}

const nextSteps = `  hookhelm list
  hookhelm explain pre_tool_use --tool Bash --input '{"command":"cd / && rm -rf tmp"}'
  hookhelm explain pre_tool_use --tool Write --input '{"file_path":"app/.env","content":"x"}'`

/** A test runs every hook of this file. */
const exampleFile = `# yaml-language-server: $schema=${SCHEMA_URL}
# Hooks for every agent that works in this repository. Check with: hookhelm validate
# A change has no effect until you run: hookhelm trust
version: 1
hooks:
  # 1. Block a command, also where it is part of a longer one.
  - id: no-recursive-delete
    event: pre_tool_use
    matcher: Bash(rm -rf*)
    handler_type: script
    config:
      source: |
        function handle(event) {
          return { decision: 'block', reason: 'rm -rf is not allowed here; move things to a trash folder instead' }
        }

  # 2. Keep agents away from files with secrets. A command reads the event as JSON from stdin;
  #    exit code 2 blocks, and its stderr is the reason.
  - id: no-secrets
    event: pre_tool_use
    matcher: ^(Write|Edit)$
    handler_type: command
    timeout_ms: 5000
    config:
      command: |
        if grep -qE '"file_path":"[^"]*\\.env'; then
          echo 'files named .env are not for agents' >&2
          exit 2
        fi

  # 3. Log every tool call. Observers never block and never delay the agent.
  - id: journal
    event: post_tool_use
    handler_type: command
    config:
      command: cat >> .hookhelm/journal.jsonl
`
