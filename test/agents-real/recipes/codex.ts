import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Recipe, type RunOptions, runProgram, type Stage } from '../recipe.ts'

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

const script = ({ cli }: Stage) => join(cli, 'node_modules/@openai/codex/bin/codex.js')
const variables = ({ home }: Stage) => ({ CODEX_HOME: join(home, '.codex'), FAKE_KEY: 'dummy' })
/** The trust that a person gives in its own dialog. */
const TRUST = '--dangerously-bypass-hook-trust'

const start = (stage: Stage, args: readonly string[], options: RunOptions = {}) =>
  runProgram({
    program: process.execPath,
    args: [script(stage), 'exec', '--json', '--skip-git-repo-check', TRUST, ...args, 'say hi'],
    cwd: stage.project,
    env: { HOME: stage.home, ...variables(stage) },
    options,
  })

export const codex: Recipe = {
  name: 'codex',
  config: '.codex/hooks.json',
  packages: ['@openai/codex@0.166.0'],
  tool: (command) => ({ tool: 'exec_command', input: { cmd: command } }),
  // A command with a bad exit code is a result to it, not a failure.
  cannot: ['recovery'],
  // Codex reports shell tools as `Bash`, runs web searches on the server, and runs no hook for input to a shell.
  unhookedTools: ['exec_command', 'write_stdin', 'web_search', 'multi_agent_v1'],
  prepare({ home, url }) {
    mkdirSync(join(home, '.codex'), { recursive: true })
    writeFileSync(join(home, '.codex', 'config.toml'), config(url))
  },
  run: (stage, options = {}) => start(stage, options.args ?? [], options),
  headless: { command: (stage) => [process.execPath, script(stage), TRUST], env: variables },
  runUnpermitted: (stage) => start(stage, ['-c', 'sandbox_mode="read-only"']),
}
