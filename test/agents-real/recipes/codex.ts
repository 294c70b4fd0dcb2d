import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Recipe, runProgram, type Stage } from '../recipe.ts'

const config = (url: string) => `model = "fake-model"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.fake]
name = "fake"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 0
stream_max_retries = 0
`

const start = ({ home, project, cli }: Stage, args: readonly string[], timeoutMs?: number) =>
  runProgram({
    program: process.execPath,
    args: [
      join(cli, 'node_modules/@openai/codex/bin/codex.js'),
      'exec',
      '--json',
      '--skip-git-repo-check',
      // The trust that a person gives in its own dialog.
      '--dangerously-bypass-hook-trust',
      ...args,
      'say hi',
    ],
    cwd: project,
    env: { HOME: home, CODEX_HOME: join(home, '.codex'), FAKE_KEY: 'dummy' },
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  })

export const codex: Recipe = {
  name: 'codex',
  config: '.codex/hooks.json',
  packages: ['@openai/codex@0.166.0'],
  tool: (command) => ({ tool: 'exec_command', input: { cmd: command } }),
  // Codex reports shell tools as `Bash`, runs web searches on the server, and runs no hook for input to a shell.
  unhookedTools: ['exec_command', 'write_stdin', 'web_search', 'multi_agent_v1'],
  prepare({ home, url }) {
    mkdirSync(join(home, '.codex'), { recursive: true })
    writeFileSync(join(home, '.codex', 'config.toml'), config(url))
  },
  run: (stage, { args = [], timeoutMs } = {}) => start(stage, args, timeoutMs),
  runUnpermitted: (stage) => start(stage, ['-c', 'sandbox_mode="read-only"']),
}
