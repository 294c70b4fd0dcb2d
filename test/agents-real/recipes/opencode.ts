import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Recipe, type RunOptions, runProgram, type Stage } from '../recipe.ts'

const config = (url: string, permission: object) => ({
  $schema: 'https://opencode.ai/config.json',
  model: 'fake/fake-model',
  small_model: 'fake/fake-model',
  permission,
  provider: {
    fake: {
      npm: '@ai-sdk/openai-compatible',
      options: { baseURL: `${url}/v1`, apiKey: 'dummy' },
      models: { 'fake-model': { tool_call: true, limit: { context: 100_000, output: 4_096 } } },
    },
  },
})

/** In the user's own folder, so that the project's stays free for what is tried. */
function configure({ home, url }: Stage, permission: object): void {
  const folder = join(home, '.config', 'opencode')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'opencode.json'), JSON.stringify(config(url, permission)))
}

const program = ({ cli }: Stage) =>
  join(cli, 'node_modules', `opencode-${process.platform}-${process.arch}`, 'bin', 'opencode')
const variables = {
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
}

const start = (stage: Stage, args: readonly string[], options: RunOptions = {}) =>
  runProgram({
    program: program(stage),
    args: ['run', ...args, 'say hi'],
    cwd: stage.project,
    env: { HOME: stage.home, ...variables },
    options,
  })

export const opencode: Recipe = {
  name: 'opencode',
  cannot: ['stop', 'no client'],
  packages: ['opencode-ai@1.18.33'],
  tool: (command) => ({ tool: 'bash', input: { command, description: 'Say hi' } }),
  // One case moves to a folder next to the project, and one makes the same call five times.
  prepare: (stage) => configure(stage, { external_directory: 'allow', doom_loop: 'allow' }),
  run: (stage, options = {}) => start(stage, options.args ?? [], options),
  subAgent: {
    tool: 'task',
    input: { description: 'Look', prompt: 'Look around', subagent_type: 'general' },
  },
  headless: { command: (stage) => [program(stage)], env: () => variables },
  runUnpermitted(stage) {
    // Nobody is there to be asked, so it rejects.
    configure(stage, { bash: 'ask' })
    return start(stage, [])
  },
}
