import { existsSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import { type FileProblem, formatProblem } from '../../hook-files/file-problem.ts'
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
    const trustedIn = (folder: string) => store.findInFolder(folder)?.path
    const found = args.revoke
      ? filesAround(cwd, store, trustedIn).filter((path) => store.find(path) !== undefined)
      : filesAround(cwd, store, (folder) => hookFileIn(folder) ?? trustedIn(folder))
    const paths = files.length > 0 ? files.map((file) => resolve(cwd, file)) : found
    if (paths.length === 0)
      printMessage('this directory is in no repository with a hook file, an agent file or recovery rules')
    const codes: ExitCode[] = []
    for (const path of paths)
      codes.push(args.revoke ? revokeTrust(path, store) : await reviewFile(path, store, args.show === true))
    return codes.find((code) => code !== exitCodes.ok) ?? exitCodes.ok
  },
})

/** The hook, agent and rule files around a directory, and those that were trusted there and are gone. */
function filesAround(
  cwd: string,
  store: TrustStore,
  hookFile: (folder: string) => string | undefined,
): string[] {
  const own = repositoryFolders(cwd, store).flatMap((folder) => [
    ...[hookFile(folder)].filter((path) => path !== undefined),
    ...findBlueprintFiles({ folder }, store),
  ])
  return [...own, ...ruleFiles(cwd, store)]
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
  const inFolder = isRuleFile(path, store) ? undefined : store.findInFolder(dirname(path))
  const trusted = store.find(path) ?? inFolder
  const text = loadFile(path, 'repository')?.text
  if (text === undefined) return reviewMissing(path, trusted)
  const isSame = trusted?.text === text && trusted.path === path
  if (isSame && (await coversScripts(trusted, store))) {
    printMessage(`already trusted: ${path}`)
    return exitCodes.ok
  }
  if (!isSame) printOutput(lineDiff(trusted?.text ?? '', text))
  for (const line of scriptChanges(trusted)) printMessage(line)
  if (onlyShow) return exitCodes.untrusted
  const read = await readForTrust(path, text, store)
  if (read.kind === 'bad') {
    for (const problem of read.problems) printMessage(formatProblem(problem))
    return exitCodes.failed
  }
  store.trust(path, text, read.scripts)
  printMessage(`trusted: ${path} (${read.holds})`)
  for (const line of scriptLines(read.scripts)) printMessage(line)
  return exitCodes.ok
}

/** What a file holds, and the scripts that it names at present. */
type ReadForTrust =
  | { readonly kind: 'good'; readonly holds: string; readonly scripts: TrustedScripts }
  | { readonly kind: 'bad'; readonly problems: readonly FileProblem[] }

async function readForTrust(path: string, text: string, store: TrustStore): Promise<ReadForTrust> {
  if (isRuleFile(path, store)) {
    const { parseRuleFile, recordRuleScripts } = await import('../../rules/files/rule-files.ts')
    const config = parseRuleFile(text)
    const holds = `${config.rules.length} recovery rules`
    return { kind: 'good', holds, scripts: recordRuleScripts(config, path) }
  }
  if (isBlueprintFile(path)) {
    const read = readBlueprintText(text, path, 'lite')
    if (read.kind === 'bad') return read
    const scripts = recordBlueprintScripts(read.definition, path)
    return { kind: 'good', holds: `agent ${agentNameOf(path)}`, scripts }
  }
  const read = readHookText(text, path)
  if (read.kind === 'bad') return read
  const { hooks } = read.file
  return { kind: 'good', holds: `${hooks.length} hooks`, scripts: recordScripts(hooks, dirname(path)) }
}

function isRuleFile(path: string, store: TrustStore): boolean {
  return basename(path) === RULE_FILE || ruleFiles(dirname(dirname(path)), store).includes(path)
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

async function coversScripts({ path, text, scripts }: TrustedFile, store: TrustStore): Promise<boolean> {
  if (scripts !== undefined) return changedScripts(scripts).length === 0
  const read = await readForTrust(path, text, store)
  return read.kind === 'good' && Object.keys(read.scripts).length === 0
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
