import { randomUUID } from 'node:crypto'
import { callerWithoutToken } from '../../access/caller.ts'
import { errorText } from '../../engine/core/errors/error.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import { findHookFolders, trustFile } from '../../hook-files/hook-folders.ts'
import { trustStore } from '../../hook-files/trust.ts'
import type { MethodParts } from '../../methods/method-parts.ts'
import { problemsLine, type StatusPart } from '../../methods/status-part.ts'
import {
  type BlueprintFileStatus,
  describeBlueprintFile,
  describeChangedScripts,
} from '../../runs/blueprints/blueprint-files.ts'
import { watchBlueprintFiles } from '../../runs/blueprints/watch-blueprint-files.ts'
import { saveBlueprint } from '../../runs/methods/blueprint-methods.ts'
import type { BlueprintRow } from '../../runs/stored/run-tables.ts'
import { writePrivateFile } from '../../safe/write-private-file.ts'
import type { GatewayContext } from './open-gateway.ts'
import { type GatewayHome, readPrivateFile } from './storage/gateway-home.ts'

interface BlueprintFilesParts extends Pick<MethodParts, 'store' | 'edition' | 'settings' | 'changed'> {
  /** The tenant that the files belong to. */
  readonly tenant: string
}

/** What an agent lacks, such as a named hook, may be saved meanwhile, here or at another gateway. */
const RETRY_MS = 2_000

/**
 * Loads the agents of files into the store and keeps them up to date: those of the administrator and the user, and those of the
 * repository that the gateway was started in. Resolves when they can be started.
 */
export async function startBlueprintFiles(
  { options, env, home, clock, log, cleanup }: GatewayContext,
  parts: BlueprintFilesParts,
): Promise<StatusPart> {
  const trust = trustStore(trustFile(env))
  const { cwd } = options
  const found = findHookFolders({
    ...(cwd === undefined ? {} : { cwd }),
    env,
    repositories: trust.repositories(),
  })
  const folders = found.filter(({ level }) => level !== 'repository' || cwd !== undefined)
  const owner = gatewayId(home)
  let refused: readonly string[] = []
  let problems: readonly string[] = []
  let applying: Promise<void> = Promise.resolve()
  const apply = (files: readonly BlueprintFileStatus[], isRetry = false) => {
    applying = applying
      .then(() => applyFiles({ ...parts, owner }, files))
      .catch((thrown: unknown) => [errorText(thrown)])
      .then((now) => {
        const isSame = isRetry && now.join('\n') === refused.join('\n')
        refused = now
        problems = [...files.map(describeBlueprintFile), ...refused].filter((text) => text !== '')
        if (!isSame) reportFiles(files, refused, log)
      })
  }
  const watch = watchBlueprintFiles({ folders, edition: parts.edition, trust, clock, onChange: apply })
  const ticker = clock.every(RETRY_MS, () => {
    if (refused.length > 0) apply(watch.files(), true)
  })
  ticker.hold(false)
  cleanup.add(async () => {
    ticker.stop()
    watch.close()
    await applying
  })
  apply(watch.files())
  await applying
  return async (tenant) => {
    await applying
    const all = [...problems, ...watch.files().flatMap(describeChangedScripts)]
    return problemsLine('agent files', tenant === parts.tenant ? all : [], `${watch.files().length} in use`)
  }
}

/** Identifies the data folder of a gateway among those that share a database. */
function gatewayId({ id }: GatewayHome): string {
  const known = readPrivateFile(id)?.trim()
  if (known !== undefined && known !== '') return known
  const created = randomUUID()
  writePrivateFile(id, `${created}\n`)
  return created
}

function reportFiles(files: readonly BlueprintFileStatus[], refused: readonly string[], log: Log): void {
  for (const status of files) {
    const { file, state, problems } = status
    if (state === 'red') log('reload.kept_previous', { file, problems })
    else if (state !== 'good') log('trust.needed', { file, state, text: describeBlueprintFile(status) })
  }
  for (const text of refused) log('reload.kept_previous', { text })
}

interface OwnFiles extends BlueprintFilesParts {
  /** Gateways that share a database each follow their own files. */
  readonly owner: string
}

/** Makes the stored agents of this gateway's files those of the files. Returns what could not be stored, and why. */
async function applyFiles(
  parts: OwnFiles,
  files: readonly BlueprintFileStatus[],
): Promise<readonly string[]> {
  const { store, tenant, changed, owner } = parts
  const rows = new Map((await store.listBlueprints(tenant)).map((row) => [row.name, row]))
  const refused: string[] = []
  const used = new Map<string, string>()
  // A file that was never trusted, or no longer is, has no effect at all.
  for (const { file, name, definition } of files.filter(({ state }) => state !== 'untrusted')) {
    const other = used.get(name)
    used.set(name, other ?? file)
    try {
      if (other !== undefined) refused.push(`${file} is not used: ${other} has an agent with the same name`)
      else if (definition !== undefined) await storeFile(parts, { file, definition }, rows.get(name))
    } catch (thrown) {
      refused.push(`${file} is not used: ${errorText(thrown)}`)
    }
  }
  for (const row of rows.values()) {
    const { name } = row
    if (row.owner === owner && !used.has(name)) {
      await store.deleteBlueprint(tenant, name)
      await changed(tenant)
    }
  }
  return refused
}

async function storeFile(
  parts: OwnFiles,
  { file, definition }: { readonly file: string; readonly definition: BlueprintRow['definition'] },
  row: BlueprintRow | undefined,
): Promise<void> {
  if (row !== undefined && row.source !== 'file')
    throw serverError(
      'store.taken',
      `an agent named ${row.name} was saved over the API. Delete it, or rename the folder`,
    )
  if (row !== undefined && row.owner !== parts.owner)
    throw serverError(
      'store.taken',
      `another gateway of this database has a file of an agent named ${row.name}. Rename the folder, or, if that ` +
        `gateway is gone for good, run \`hookhelm blueprints delete ${row.name} --orphaned\``,
    )
  if (row !== undefined && JSON.stringify(row.definition) === JSON.stringify(definition)) return
  const caller = callerWithoutToken(parts.tenant, file, 'admin')
  await saveBlueprint({ given: definition, version: row?.version ?? 0, owner: parts.owner }, caller, parts)
}
