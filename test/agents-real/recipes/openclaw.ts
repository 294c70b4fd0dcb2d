import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Recipe, type RunOptions, runProgram, type Stage } from '../recipe.ts'

const model = {
  id: 'fake-model',
  name: 'Fake',
  reasoning: false,
  input: ['text'],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 100_000,
  maxTokens: 4_096,
}

/** What is in the file already stays: a plugin may be connected by now. */
function configure({ home, project, url }: Stage, more: object = {}): void {
  const folder = join(home, '.openclaw')
  const file = join(folder, 'openclaw.json')
  mkdirSync(folder, { recursive: true })
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as object) : {}
  const provider = { baseUrl: `${url}/v1`, apiKey: 'dummy', api: 'openai-completions', models: [model] }
  const config = {
    ...known,
    models: { providers: { fake: provider } },
    agents: { defaults: { model: { primary: 'fake/fake-model' }, workspace: project } },
    ...more,
  }
  writeFileSync(file, JSON.stringify(config, null, 2))
}

let runs = 0

/** It needs a newer Node than ours, which comes as a package too. */
function start({ home, project, cli }: Stage, args: readonly string[], options: RunOptions = {}) {
  const node = join(cli, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin')
  runs += 1
  return runProgram({
    program: join(node, 'node'),
    args: [
      join(cli, 'node_modules/openclaw/openclaw.mjs'),
      'agent',
      '--local',
      '--agent',
      'main',
      // A session that exists already would be gone on with.
      '--session-key',
      `agent:main:t${runs}`,
      '--timeout',
      '60',
      ...args,
      '--message',
      'say hi',
    ],
    cwd: project,
    env: { HOME: home, PATH: `${node}:${process.env.PATH ?? ''}` },
    options,
  })
}

export const openclaw: Recipe = {
  name: 'openclaw',
  cannot: ['stop', 'no client'],
  packages: ['openclaw@2026.9.6', `node-${process.platform}-${process.arch}@26`],
  tool: (command) => ({ tool: 'exec', input: { command } }),
  prepare: (stage) => configure(stage),
  run: (stage, options = {}) => start(stage, options.args ?? [], options),
  runUnpermitted(stage) {
    configure(stage, { tools: { deny: ['exec'] } })
    return start(stage, [])
  },
}
