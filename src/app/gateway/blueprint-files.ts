import type { Caller } from '../../access/caller.ts'
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
import type { GatewayContext } from './open-gateway.ts'

interface BlueprintFilesParts extends Pick<MethodParts, 'store' | 'edition' | 'settings' | 'changed'> {
  /** The tenant that the files belong to. */
  readonly tenant: string
}

/**
 * Loads the agents of files into the store and keeps them up to date: those of the administrator and the user, and those of the
 * repository that the gateway was started in. Resolves when they can be started.
 */
export async function startBlueprintFiles(
  { options, env, clock, log, cleanup }: GatewayContext,
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
  let problems: readonly string[] = []
  let applying: Promise<void> = Promise.resolve()
  const apply = (files: readonly BlueprintFileStatus[]) => {
    applying = applying
      .then(() => applyFiles(parts, files))
      .catch((thrown: unknown) => [errorText(thrown)])
      .then((refused) => {
        problems = [...files.map(describeBlueprintFile), ...refused].filter((text) => text !== '')
        reportFiles(files, refused, log)
      })
  }
  const watch = watchBlueprintFiles({ folders, edition: parts.edition, trust, clock, onChange: apply })
  cleanup.add(() => watch.close())
  apply(watch.files())
  await applying
  return async (tenant) => {
    await applying
    const all = [...problems, ...watch.files().flatMap(describeChangedScripts)]
    return problemsLine('agent files', tenant === parts.tenant ? all : [], `${watch.files().length} in use`)
  }
}

function reportFiles(files: readonly BlueprintFileStatus[], refused: readonly string[], log: Log): void {
  for (const status of files) {
    const { file, state, problems } = status
    if (state === 'red') log('reload.kept_previous', { file, problems })
    else if (state !== 'good') log('trust.needed', { file, state, text: describeBlueprintFile(status) })
  }
  for (const text of refused) log('reload.kept_previous', { text })
}

/** Makes the stored agents of source `file` those of the files. Returns what could not be stored, and why. */
async function applyFiles(
  parts: BlueprintFilesParts,
  files: readonly BlueprintFileStatus[],
): Promise<readonly string[]> {
  const { store, tenant, changed } = parts
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
  for (const { name, source } of rows.values())
    if (source === 'file' && !used.has(name)) {
      await store.deleteBlueprint(tenant, name)
      await changed(tenant)
    }
  return refused
}

async function storeFile(
  parts: BlueprintFilesParts,
  { file, definition }: { readonly file: string; readonly definition: BlueprintRow['definition'] },
  row: BlueprintRow | undefined,
): Promise<void> {
  if (row !== undefined && row.source !== 'file')
    throw serverError(
      'store.taken',
      `an agent named ${row.name} was saved over the API. Delete it, or rename the folder`,
    )
  if (row !== undefined && JSON.stringify(row.definition) === JSON.stringify(definition)) return
  const caller: Caller = {
    tenant: parts.tenant,
    role: 'admin',
    master: false,
    name: file,
    agentId: undefined,
  }
  await saveBlueprint({ given: definition, version: row?.version ?? 0, source: 'file' }, caller, parts)
}
