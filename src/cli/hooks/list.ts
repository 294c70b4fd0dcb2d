import { relative, resolve } from 'node:path'
import { MASTER_TENANT } from '../../access/tenant-tables.ts'
import { openLocal } from '../../app/local.ts'
import { errorText } from '../../engine/core/errors/error.ts'
import type { Methods } from '../../gateway/methods.ts'
import { reportHookFiles } from '../../hook-files/hook-file-report.ts'
import { findHookFolders, trustFile } from '../../hook-files/hook-folders.ts'
import { resolveCatalogueName } from '../../hook-files/read/read-hook-file.ts'
import { trustStore } from '../../hook-files/trust.ts'
import { inspectHookFiles } from '../../hook-files/watch/inspect-hook-files.ts'
import { listEffectiveFiles, listEffectiveHooks } from '../../stored-hooks/saving/effective-hooks.ts'
import { command, type ExitCode, exitCodes } from '../command.ts'
import { printOutput } from '../output.ts'
import {
  clientOptions,
  connectionArgs,
  isNoGateway,
  isThisMachine,
  withGateway,
} from '../remote/connection.ts'
import { formatEffective } from '../remote/format-effective.ts'

type Effective = Methods['hooks.effective']['result']

export const listCommand = command({
  args: {
    event: { type: 'positional', required: false, description: 'only this event, by any of its names' },
    agent: { type: 'string', description: 'as this agent sees it: name or id' },
    folder: { type: 'string', description: 'the folder in which the agent works (default: this one)' },
    everywhere: {
      type: 'boolean',
      description: 'also the hooks of every other folder that the gateway knows',
    },
    ...connectionArgs,
  },
  async run(args, rest) {
    const folder = resolve(args.cwd ?? '.', args.folder ?? '.')
    const event = args.event ?? rest[0]
    const request = {
      ...(event === undefined ? {} : { event: resolveCatalogueName(event) }),
      ...(args.agent === undefined ? {} : { agent: args.agent }),
    }
    const where = args.everywhere === true ? { everywhere: true } : { folder }
    const { url, answer } = await askGateway(args, { ...request, ...where })
    const effective = answer ?? (await readLocalFiles(request, folder))
    if (args.json) printOutput({ gateway: url ?? null, ...effective })
    else {
      const head =
        url === undefined
          ? 'No gateway is running, so connected agents are blocked. The hook files alone would do this:'
          : `In force in the gateway at ${url}:`
      printOutput(`${head}\n\n${formatEffective(effective, (file) => shortPath(file, folder))}`)
    }
    return exitCodeFor(effective)
  },
})

/** The answer of the gateway; nothing if no gateway runs. A gateway that was named with --url must answer. */
async function askGateway(
  args: { readonly url?: string | undefined; readonly folder?: string | undefined },
  { folder, ...request }: Methods['hooks.effective']['params'],
): Promise<{ readonly url?: string; readonly answer?: Effective }> {
  try {
    const options = clientOptions(args)
    const { url = '' } = options
    // Folders of this machine mean nothing to a gateway on another one.
    const isShared = isThisMachine(url) || args.folder !== undefined
    const params = { ...request, ...(isShared && folder !== undefined ? { folder } : {}) }
    const answer = await withGateway(options, (client) => client.call('hooks.effective', params))
    return { url, answer }
  } catch (error) {
    if (args.url === undefined && isNoGateway(error)) return {}
    throw error
  }
}

/** What the hook files of a folder would do in a program that loads them, such as `hookhelm explain`. */
async function readLocalFiles(
  { event, agent }: Pick<Methods['hooks.effective']['params'], 'event' | 'agent'>,
  folder: string,
): Promise<Effective> {
  const about = { event: event ?? null, agent: agent ?? null, folder, folders: [] }
  const request = { tenant: MASTER_TENANT, edition: 'lite' as const, event, agent }
  const folders = findHookFolders({ cwd: folder })
  try {
    const { hooks, files: watched, close } = await openLocal({ cwd: folder })
    const files = reportHookFiles(watched.status(), folders)
    const find = (id: string) => {
      const report = files.find((file) => file.hooks.some(({ definition }) => definition.id === id))
      return report && { handler_type: '', enabled: true, folder: report.folder }
    }
    const inForce = { snapshot: { hooks, rows: new Map(), broken: new Map(), find }, problem: '', files }
    const answer = {
      ...about,
      problem: '',
      hooks: listEffectiveHooks(inForce, request),
      files: listEffectiveFiles(inForce),
    }
    await close()
    return answer
  } catch (error) {
    const statuses = inspectHookFiles(folders, { trust: trustStore(trustFile()) })
    const inForce = {
      snapshot: undefined,
      problem: errorText(error),
      files: reportHookFiles(statuses, folders),
    }
    return { ...about, problem: inForce.problem, hooks: [], files: listEffectiveFiles(inForce) }
  }
}

function exitCodeFor({ problem, files }: Effective): ExitCode {
  if (problem !== '') return exitCodes.failed
  return files.some(({ state }) => state === 'pending') ? exitCodes.untrusted : exitCodes.ok
}

/** A path below the folder is shown relative to it. */
function shortPath(file: string, folder: string): string {
  const inside = relative(folder, file)
  return inside.startsWith('..') ? file : inside
}
