import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { hookFileIn, trustFile } from '../config/hook-folders.ts'
import { SCHEMA_URL } from '../config/schema/json-schema.ts'
import { trustStore } from '../config/trust.ts'
import { handlerError } from '../engine/core/handler-errors.ts'
import { command, exitCodes } from './command.ts'
import { printMessage, printOutput } from './output.ts'

export const initCommand = command({
  run(args) {
    const folder = join(resolve(args.cwd ?? '.'), '.hookhelm')
    const existing = existsSync(folder) ? hookFileIn(folder) : undefined
    if (existing !== undefined) throw handlerError('config.exists', `${existing} exists already`)
    mkdirSync(folder, { recursive: true })
    const path = join(folder, 'hooks.yaml')
    writeFileSync(path, exampleFile, { flag: 'wx', mode: 0o644 })
    // The user has just written this file, so there is nothing to review.
    trustStore(trustFile()).trust(path, exampleFile)
    if (args.json) printOutput({ file: path })
    printMessage(`written and trusted: ${path}\n\nTry it:\n${nextSteps}`)
    return exitCodes.ok
  },
})

const nextSteps = `  hookhelm list
  hookhelm explain pre_tool_use --tool Bash --input '{"command":"cd / && rm -rf tmp"}'
  hookhelm explain pre_tool_use --tool Write --input '{"file_path":"app/.env","content":"x"}'`

/** A test runs every hook of this file. */
const exampleFile = `# yaml-language-server: $schema=${SCHEMA_URL}
# Hooks for every agent that works in this repository. Check with: hookhelm validate
# After a change the file has no effect until you run: hookhelm trust
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
