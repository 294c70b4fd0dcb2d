import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Recipe, type RunOptions, runProgram, type Stage } from '../recipe.ts'

const program = ({ cli }: Stage) => join(cli, 'node_modules/@anthropic-ai/claude-code-linux-x64/claude')

const variables = ({ url }: Stage) => ({
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_API_KEY: 'dummy',
  DISABLE_AUTOUPDATER: '1',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
})

const start = (stage: Stage, args: readonly string[], options: RunOptions = {}) =>
  runProgram({
    program: program(stage),
    args: ['-p', 'say hi', ...args],
    cwd: stage.project,
    env: { HOME: stage.home, ...variables(stage) },
    options,
  })

export const claudeCode: Recipe = {
  name: 'claude-code',
  config: '.claude/settings.json',
  packages: ['@anthropic-ai/claude-code@2.1.325'],
  tool: (command) => ({ tool: 'Bash', input: { command, description: 'Say hi' } }),
  prepare: ({ home }) => mkdirSync(join(home, '.claude'), { recursive: true }),
  run: (stage, options = {}) => start(stage, ['--allowedTools', 'Bash', ...(options.args ?? [])], options),
  subAgent: {
    tool: 'Agent',
    input: { description: 'Look', prompt: 'Look around', subagent_type: 'general-purpose' },
  },
  addFolder: (folder) => ['--add-dir', folder],
  headless: { command: (stage) => [program(stage)], env: variables },
  runUnpermitted: (stage) => start(stage, []),
}
