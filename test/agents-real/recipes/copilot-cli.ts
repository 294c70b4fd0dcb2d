import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Recipe, type RunOptions, runProgram, type Stage } from '../recipe.ts'

const start = (
  { home, project, url, cli }: Stage,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
  options: RunOptions = {},
) =>
  runProgram({
    program: join(cli, 'node_modules/@github/copilot-linux-x64/copilot'),
    args: ['-p', 'say hi', ...args],
    cwd: project,
    env: {
      HOME: home,
      COPILOT_OFFLINE: 'true',
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_API_KEY: 'dummy',
      COPILOT_MODEL: 'fake-model',
      ...env,
    },
    options,
  })

export const copilotCli: Recipe = {
  name: 'copilot-cli',
  config: '.copilot/hooks/hookhelm.json',
  // A command with a bad exit code is a result to it, not a failure.
  cannot: ['recovery'],
  packages: ['@github/copilot@1.0.102'],
  tool: (command) => ({ tool: 'bash', input: { command, description: 'Say hi' } }),
  prepare: ({ home }) => mkdirSync(join(home, '.copilot'), { recursive: true }),
  run: (stage, options = {}) => start(stage, { COPILOT_ALLOW_ALL: 'true' }, options.args ?? [], options),
  subAgent: {
    tool: 'task',
    input: { name: 'look', description: 'Look', prompt: 'Look around', agent_type: 'explore' },
  },
  runUnpermitted: (stage) => start(stage, {}, []),
}
