import { existsSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import { formatProblem } from '../../hook-files/file-problem.ts'
import { findHookFolders, hookFileIn, trustFile } from '../../hook-files/hook-folders.ts'
import { lineDiff } from '../../hook-files/line-diff.ts'
import { loadFile } from '../../hook-files/read/load-file.ts'
import { readHookText } from '../../hook-files/read/read-hook-file.ts'
import { type TrustedFile, type TrustStore, trustStore } from '../../hook-files/trust.ts'
import { changedScripts, recordScripts, type TrustedScripts } from '../../hook-files/trusted-scripts.ts'
import { RULE_FILE, ruleFilePaths } from '../../rules/files/rule-file-paths.ts'
import {
  agentNameOf,
  findBlueprintFiles,
  isBlueprintFile,
  readBlueprintText,
  recordBlueprintScripts,
} from '../../runs/blueprints/blueprint-files.ts'
import { command, type ExitCode, exitCodes } from '../command.ts'
import { reviewMcpServer } from '../mcp/trust-mcp-server.ts'
import { printMessage, printOutput } from '../output.ts'

export const trustCommand = command({
  args: {
    show: {
      type: 'boolean',
      description: 'show the changes since the file was last trusted, without trusting it',
    },
    revoke: { type: 'boolean', description: 'withdraw trust' },
    mcp: { type: 'string', description: 'accept the changed tools of this MCP server, instead of a file' },
  },
  manyWords: true,
  async run(args, files) {
    if (args.mcp !== undefined) return reviewMcpServer(args.mcp, args)
    const cwd = resolve(args.cwd ?? '.')
    const store = trustStore(trustFile())
    const found = args.revoke ? trustedFiles(cwd, store) : repositoryFiles(cwd, store)
    const paths = files.length > 0 ? files.map((file) => resolve(cwd, file)) : found
    if (paths.length === 0)
      printMessage('this directory is in no repository with a hook file, an agent file or recovery rules')
    const codes: ExitCode[] = []
    for (const path of paths)
      codes.push(args.revoke ? revokeTrust(path, store) : await reviewFile(path, store, args.show === true))
    return codes.find((code) => code !== exitCodes.ok) ?? exitCodes.ok
  },
})

/** The hook and agent files around a directory, and those that were trusted there and are gone. */
function repositoryFiles(cwd: string, store: TrustStore): string[] {
  const own = repositoryFolders(cwd, store).flatMap((folder) => [
    ...[hookFileIn(folder) ?? store.findInFolder(folder)?.path].filter((path) => path !== undefined),
    ...findBlueprintFiles({ folder }, store),
  ])
  return [...own, ...ruleFiles(cwd, store)]
}

function trustedFiles(cwd: string, store: TrustStore): string[] {
  const own = repositoryFolders(cwd, store).flatMap((folder) => [
    ...[store.findInFolder(folder)?.path].filter((path) => path !== undefined),
    ...findBlueprintFiles({ folder }, store).filter((path) => store.find(path) !== undefined),
  ])
  return [...own, ...ruleFiles(cwd, store).filter((path) => store.find(path) !== undefined)]
}

/** The files with recovery rules around a directory. */
function ruleFiles(cwd: string, store: TrustStore): string[] {
  return ruleFilePaths({ cwd, start: cwd, env: process.env, repositories: store.repositories() })
    .filter(({ level }) => level === 'repository')
    .map(({ path }) => path)
    .filter((path) => existsSync(path) || store.find(path) !== undefined)
}

function repositoryFolders(cwd: string, store: TrustStore): string[] {
  return findHookFolders({ cwd, repositories: store.repositories() })
    .filter(({ level }) => level === 'repository')
    .map(({ folder }) => folder)
}

async function reviewFile(path: string, store: TrustStore, onlyShow: boolean): Promise<ExitCode> {
  if (isRuleFile(path, store)) return reviewRuleFile(path, store, onlyShow)
  const trusted = store.find(path) ?? store.findInFolder(dirname(path))
  const loaded = loadFile(path, 'repository')
  if (loaded === undefined) return reviewMissing(path, trusted)
  const { text } = loaded
  const isSame = trusted?.text === text && trusted.path === path
  if (isBlueprintFile(path)) return reviewBlueprint({ path, text, trusted }, store, onlyShow)
  if (isSame && coversScripts(trusted, path)) {
    printMessage(`already trusted: ${path}`)
    return exitCodes.ok
  }
  if (!isSame) printOutput(lineDiff(trusted?.text ?? '', text))
  for (const line of scriptChanges(trusted)) printMessage(line)
  if (onlyShow) return exitCodes.untrusted
  const read = readHookText(text, path)
  if (read.kind === 'bad') {
    for (const problem of read.problems) printMessage(formatProblem(problem))
    return exitCodes.failed
  }
  const scripts = trustHooks(path, text, read.file.hooks)
  printMessage(`trusted: ${path} (${read.file.hooks.length} hooks)`)
  for (const line of scriptLines(scripts)) printMessage(line)
  return exitCodes.ok
}

function reviewBlueprint(
  {
    path,
    text,
    trusted,
  }: { readonly path: string; readonly text: string; readonly trusted: TrustedFile | undefined },
  store: TrustStore,
  onlyShow: boolean,
): ExitCode {
  const isSame = trusted?.text === text
  if (isSame && changedScripts(trusted.scripts ?? {}).length === 0) {
    printMessage(`already trusted: ${path}`)
    return exitCodes.ok
  }
  if (!isSame) printOutput(lineDiff(trusted?.text ?? '', text))
  for (const line of scriptChanges(trusted)) printMessage(line)
  if (onlyShow) return exitCodes.untrusted
  const read = readBlueprintText(text, path, 'lite')
  if (read.kind === 'bad') {
    for (const problem of read.problems) printMessage(formatProblem(problem))
    return exitCodes.failed
  }
  const scripts = recordBlueprintScripts(read.definition, path)
  store.trust(path, text, scripts)
  printMessage(`trusted: ${path} (agent ${agentNameOf(path)})`)
  for (const line of scriptLines(scripts)) printMessage(line)
  return exitCodes.ok
}

function isRuleFile(path: string, store: TrustStore): boolean {
  return basename(path) === RULE_FILE || ruleFiles(dirname(dirname(path)), store).includes(path)
}

/** Reviews a file with recovery rules, and trusts it with the scripts that its commands name. */
async function reviewRuleFile(path: string, store: TrustStore, onlyShow: boolean): Promise<ExitCode> {
  const trusted = store.find(path)
  const loaded = loadFile(path, 'repository')
  if (loaded === undefined) return reviewMissing(path, trusted)
  const { text } = loaded
  const isCovered = trusted?.scripts !== undefined && changedScripts(trusted.scripts).length === 0
  if (trusted?.text === text && isCovered) {
    printMessage(`already trusted: ${path}`)
    return exitCodes.ok
  }
  if (trusted?.text !== text) printOutput(lineDiff(trusted?.text ?? '', text))
  for (const line of scriptChanges(trusted)) printMessage(line)
  if (onlyShow) return exitCodes.untrusted
  const { parseRuleFile, recordRuleScripts } = await import('../../rules/files/rule-files.ts')
  const config = parseRuleFile(text)
  const scripts = recordRuleScripts(config, path)
  store.trust(path, text, scripts)
  printMessage(`trusted: ${path} (${config.rules.length} recovery rules)`)
  for (const line of scriptLines(scripts)) printMessage(line)
  return exitCodes.ok
}

/** Trusts a hook file and the scripts that it names at present. */
export function trustHooks(path: string, text: string, hooks: readonly HookDefinition[]): TrustedScripts {
  const scripts = recordScripts(hooks, dirname(path))
  trustStore(trustFile()).trust(path, text, scripts)
  return scripts
}

function reviewMissing(path: string, trusted: TrustedFile | undefined): ExitCode {
  if (trusted === undefined) throw handlerError('config.unreadable', `there is no file ${path}`)
  printOutput(lineDiff(trusted.text, ''))
  printMessage(
    `${path} no longer exists; the content that you trusted stays in force. Restore it, or run \`hookhelm trust --revoke\``,
  )
  return exitCodes.untrusted
}

function coversScripts({ scripts, text }: TrustedFile, path: string): boolean {
  if (scripts !== undefined) return changedScripts(scripts).length === 0
  const read = readHookText(text, path)
  return read.kind === 'good' && Object.keys(recordScripts(read.file.hooks, dirname(path))).length === 0
}

function scriptChanges(trusted: TrustedFile | undefined): string[] {
  if (trusted === undefined) return []
  if (trusted.scripts === undefined)
    return [`the trust in ${trusted.path} was given before Hookhelm recorded the scripts that a file names`]
  const states = { changed: 'changed', missing: 'missing', link: 'now a symbolic link', appeared: 'new' }
  return changedScripts(trusted.scripts).map(({ path, state }) => `script ${states[state]}: ${path}`)
}

function scriptLines(scripts: TrustedScripts): string[] {
  const lines = Object.entries(scripts).map(([path, { sha256 }]) =>
    sha256 === undefined
      ? `  does not exist, and is not run until you trust it: ${path}`
      : `  trusted script: ${path}`,
  )
  const rest = 'Trust does not cover files that these scripts load, nor programs outside of the repository.'
  return lines.length === 0 ? [] : [...lines, rest]
}

function revokeTrust(path: string, store: TrustStore): ExitCode {
  const wasTrusted = store.revoke(store.find(path)?.path ?? store.findInFolder(dirname(path))?.path ?? path)
  printMessage(wasTrusted ? `no longer trusted: ${path}` : `was not trusted: ${path}`)
  return exitCodes.ok
}
