import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { jsonLog } from '../../app/gateway/json-log.ts'
import { runnerGateway } from '../../app/runner-gateway.ts'
import { createRunnerMeans } from '../../app/runner-means.ts'
import { HookError } from '../../engine/core/errors/error.ts'
import { systemClock } from '../../engine/core/time/clock.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import type { ExecutorSettings } from '../../runs/executor.ts'
import { readExecutorProfile } from '../../runs/runner/executor-profiles.ts'
import { startFolders } from '../../runs/runner/run-folder.ts'
import { Runner, type RunnerOptions } from '../../runs/runner/runner.ts'
import { command, exitCodes, type Flags } from '../command.ts'
import { untilStopped } from '../gateway/up.ts'
import { printMessage } from '../output.ts'
import { clientOptions, connectionArgs, withGateway } from '../remote/connection.ts'

const CONCURRENCY = 4
const MAX_CONCURRENCY = 64

export const runnerCommand = command({
  args: {
    ...connectionArgs,
    profile: {
      type: 'string',
      description: 'serve this executor profile: the command after --, or an entry of --profiles',
    },
    profiles: { type: 'string', description: 'a YAML or JSON file with executor profiles' },
    project: { type: 'string', description: 'where commands run, and the project_dir it offers' },
    folders: {
      type: 'string',
      description:
        'folders that runs may name, with those below them, separated by commas (HOOKHELM_RUN_FOLDERS, or the project)',
    },
    tags: { type: 'string', description: 'tags that runs may demand, separated by commas' },
    'only-tagged': { type: 'boolean', description: 'take only runs that demand one of the tags' },
    concurrency: { type: 'string', description: `how many runs at once (${CONCURRENCY})` },
    quiet: { type: 'boolean', description: 'no log' },
  },
  manyWords: true,
  async run(args, argv) {
    const {
      profile,
      profiles,
      project,
      folders: listed = process.env.HOOKHELM_RUN_FOLDERS,
      tags = '',
      quiet,
    } = args
    const executor = findProfile({ profile, profiles, argv })
    const log = quiet ? () => {} : jsonLog(printMessage, systemClock)
    const settings: Pick<RunnerOptions, 'offer' | 'concurrency'> = {
      offer: {
        hostname: hostname(),
        project_dir: project === undefined ? '' : resolve(project),
        executor_profile: profile ?? '',
        executor_type: executorType(executor),
        tags: words(tags),
        require_matching_tags: args['only-tagged'] === true,
      },
      concurrency: readConcurrency(args.concurrency),
    }
    const cwd = resolve(project ?? args.cwd ?? '.')
    const own = listed === undefined ? startFolders(cwd) : words(listed).map((each) => resolve(each))
    await withGateway(clientOptions(args), async (client) => {
      const { means, dispose } = createRunnerMeans({
        ...{ env: process.env, client, log, cwd, folders: () => own },
        ...definedFields({ profile: executor }),
      })
      const runner = new Runner({ ...settings, ...means, gateway: runnerGateway(client) })
      const stopped = untilStopped().then(() => runner.stop())
      await Promise.race([runner.ended, stopped]).finally(dispose)
    })
    return exitCodes.ok
  },
})

function words(list: string): readonly string[] {
  return list.split(',').filter((word) => word !== '')
}

/** Only a model is limited to the tools of an agent, so only it takes agents that name no profile. */
function executorType(executor: ExecutorSettings | undefined): string {
  if (executor === undefined) return 'command'
  return executor.type === 'model' ? 'autonomous' : 'profile'
}

/** The executor that the runner serves; undefined if blueprints bring their own. */
function findProfile({
  profile,
  profiles,
  argv,
}: Flags<'profile' | 'profiles'> & { readonly argv: readonly string[] }): ExecutorSettings | undefined {
  if (profile === undefined && profiles === undefined && argv.length === 0) return undefined
  if (profile === undefined || (profiles === undefined) === (argv.length === 0))
    throw usage(
      'a profile needs its command or its file: --profile <name> -- <command>, or --profile <name> --profiles <file>',
    )
  return profiles === undefined ? { command: argv } : readExecutorProfile(resolve(profiles), profile)
}

function readConcurrency(given: string | undefined): number {
  const count = given === undefined ? CONCURRENCY : Number(given)
  if (Number.isInteger(count) && count >= 1 && count <= MAX_CONCURRENCY) return count
  throw usage(`--concurrency must be a whole number from 1 to ${MAX_CONCURRENCY}`)
}

function usage(message: string): HookError {
  return new HookError('config.field', message, { hint: 'Run `hookhelm runner --help`.' })
}
