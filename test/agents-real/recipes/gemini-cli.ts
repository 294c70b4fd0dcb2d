import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Recipe, type RunOptions, runProgram, type Stage } from '../recipe.ts'

const settings = {
  security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
  general: { disableAutoUpdate: true },
  privacy: { usageStatisticsEnabled: false },
  // One case makes the same call five times.
  model: { disableLoopDetection: true },
}

const script = ({ cli }: Stage) => join(cli, 'node_modules/@google/gemini-cli/bundle/gemini.js')
const variables = ({ url }: Stage) => ({
  GEMINI_API_KEY: 'dummy',
  GOOGLE_GEMINI_BASE_URL: url,
  GEMINI_CLI_TRUST_WORKSPACE: 'true',
})
const MODEL = ['-m', 'gemini-2.5-flash']
const PERMITTED = '--approval-mode=yolo'

const start = (stage: Stage, args: readonly string[], options: RunOptions = {}) =>
  runProgram({
    program: process.execPath,
    args: [script(stage), '-p', 'say hi', ...MODEL, ...args],
    cwd: stage.project,
    env: { HOME: stage.home, ...variables(stage) },
    options,
  })

export const geminiCli: Recipe = {
  name: 'gemini-cli',
  // A command with a bad exit code is a result to it, not a failure.
  cannot: ['recovery'],
  config: '.gemini/settings.json',
  packages: ['@google/gemini-cli@0.61.0'],
  tool: (command) => ({ tool: 'run_shell_command', input: { command, description: 'Say hi' } }),
  prepare({ home }) {
    mkdirSync(join(home, '.gemini'), { recursive: true })
    writeFileSync(join(home, '.gemini', 'settings.json'), `${JSON.stringify(settings, null, 2)}\n`)
  },
  run: (stage, options = {}) => start(stage, [PERMITTED, ...(options.args ?? [])], options),
  subAgent: {
    tool: 'invoke_agent',
    input: { agent_name: 'codebase_investigator', prompt: 'Look around' },
  },
  headless: {
    command: (stage) => [process.execPath, script(stage)],
    args: [...MODEL, PERMITTED],
    env: variables,
  },
  runUnpermitted: (stage) => start(stage, []),
}
