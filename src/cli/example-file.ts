import { SCHEMA_URL } from '../config/schema/json-schema.ts'

/** What `hookhelm init` writes. A test runs every hook in it. */
export const exampleFile = `# yaml-language-server: $schema=${SCHEMA_URL}
# Hooks for every agent that works in this repository. Check with: hookhelm validate
# Once changed, the file is inert until somebody runs: hookhelm trust
version: 1
hooks:
  # 1. Some commands are never run, whatever stands around them.
  - id: no-recursive-delete
    event: pre_tool_use
    matcher: Bash(rm -rf*)
    handler_type: script
    config:
      source: |
        function handle(event) {
          return { decision: 'block', reason: 'rm -rf is not allowed here; move things to a trash folder instead' }
        }

  # 2. Files that hold secrets are left alone. A command gets the event as JSON on stdin;
  #    exit code 2 blocks, and what it prints to stderr is the reason.
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

  # 3. Every tool call is written down. Observers never block and never slow the agent down.
  - id: journal
    event: post_tool_use
    handler_type: command
    config:
      command: cat >> .hookhelm/journal.jsonl
`
