import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Recipe, runProgram, type Stage } from '../recipe.ts'

const settings = {
  security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
  general: { disableAutoUpdate: true },
  privacy: { usageStatisticsEnabled: false },
}

const start = ({ home, project, url, cli }: Stage, args: readonly string[], timeoutMs?: number) =>
  runProgram({
    program: process.execPath,
    args: [
      join(cli, 'node_modules/@google/gemini-cli/bundle/gemini.js'),
      '-p',
      'say hi',
      '-m',
      'gemini-2.5-flash',
      ...args,
    ],
    cwd: project,
    env: {
      HOME: home,
      GEMINI_API_KEY: 'dummy',
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    },
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  })

export const geminiCli: Recipe = {
  name: 'gemini-cli',
  config: '.gemini/settings.json',
  packages: ['@google/gemini-cli@0.61.0'],
  tool: (command) => ({ tool: 'run_shell_command', input: { command, description: 'Say hi' } }),
  prepare({ home }) {
    mkdirSync(join(home, '.gemini'), { recursive: true })
    writeFileSync(join(home, '.gemini', 'settings.json'), `${JSON.stringify(settings, null, 2)}\n`)
  },
  run: (stage, { args = [], timeoutMs } = {}) => start(stage, ['--approval-mode=yolo', ...args], timeoutMs),
  subAgent: {
    tool: 'invoke_agent',
    input: { agent_name: 'codebase_investigator', prompt: 'Look around' },
  },
  runUnpermitted: (stage) => start(stage, []),
}
