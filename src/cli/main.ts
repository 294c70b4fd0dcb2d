#!/usr/bin/env node
/** The entry of `hookhelm`. It answers `--version` and `--help` from the command table, and loads code for nothing else. */
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type CommandRow, commands } from './commands.ts'
import { formatTable, printMessage, printOutput } from './output.ts'
import { packageVersion } from './package-version.ts'

const [name = '', ...rest] = process.argv.slice(2)
const row = commands.find((each) => each.name === name || each.alias === name)
const wrongVerb = row === undefined ? undefined : await explainVerb(row)

if (name === '--version' || name === '-v') printOutput(packageVersion())
else if (name === '--help' || name === '-h') printOutput(helpText())
else if (row === undefined) await rejectCommand()
else if (wrongVerb !== undefined) failWith(wrongVerb)
else if (row.load === undefined) await printCompletion()
else await run(row, row.load)

async function run(
  { name: command, about }: CommandRow,
  load: NonNullable<CommandRow['load']>,
): Promise<void> {
  await cacheCompiledCode()
  const [{ runCommand, runMain }, loaded] = await Promise.all([import('citty'), load()])
  const definition = typeof loaded === 'function' ? await loaded() : await loaded
  const main = {
    meta: { name: 'hookhelm', version: packageVersion() },
    subCommands: { [command]: { ...definition, meta: { name: command, description: about } } },
  }
  const args = [command, ...rest]
  // Words after `--` belong to another program, including its `-h`.
  const end = rest.indexOf('--')
  const help = rest.findIndex((word) => word === '-h' || word === '--help')
  if (end !== -1 && (help === -1 || end < help)) await runCommand(main, { rawArgs: args })
  else await runMain(main, { rawArgs: args })
}

/** In folders that only the user can write to: Node's default below /tmp could hold another user's code. */
async function cacheCompiledCode(): Promise<void> {
  if (!import.meta.url.endsWith('.js')) return
  const own = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'hookhelm')
  const compiled = join(own, 'compiled')
  try {
    const { createPrivateFolder } = await import('../safe/private-folder.ts')
    for (const folder of [own, compiled]) createPrivateFolder(folder)
    enableCompileCache(compiled)
  } catch {
    // The command starts without a cache, only slower.
  }
}

function helpText(): string {
  return [
    `hookhelm ${packageVersion()}: one hook engine for every AI agent`,
    '',
    'Usage: hookhelm <command> [flags]',
    '',
    formatTable(commands.map((each) => [`  ${each.name}`, each.about])),
    '',
    'Run `hookhelm <command> --help` for the flags of a command.',
  ].join('\n')
}

async function printCompletion(): Promise<void> {
  const { completionScript } = await import('./completion.ts')
  const script = completionScript(rest[0] ?? '', commands)
  if (script !== undefined) return printOutput(script)
  failWith(`usage: hookhelm completion ${row?.verbs?.join('|')}`)
}

async function rejectCommand(): Promise<void> {
  if (name === '') return failWith(helpText())
  if (name.startsWith('-'))
    return failWith(`flags come after the command: hookhelm <command> ${name.slice(0, 80)}`)
  const hint = await didYouMean(
    name,
    commands.map((each) => each.name),
  )
  failWith(
    `there is no command ${name.slice(0, 80)}. ${hint ?? 'Run `hookhelm --help` to list the commands.'}`,
  )
}

/** What is wrong with the subcommand; nothing if it exists, or if help answers. */
async function explainVerb({
  name: command,
  verbs,
  replaced = {},
  load,
}: CommandRow): Promise<string | undefined> {
  // `completion` explains its own argument.
  if (verbs === undefined || load === undefined) return undefined
  const verb = rest.find((word) => !word.startsWith('-'))
  if (rest.includes('--help') || rest.includes('-h') || (verb !== undefined && verbs.includes(verb)))
    return undefined
  const all = `hookhelm ${command} ${verbs.join('|')}`
  if (verb === undefined) return `a subcommand is missing: ${all}`
  if (Object.hasOwn(replaced, verb))
    return `use \`hookhelm ${replaced[verb]}\` instead of \`hookhelm ${command} ${verb}\``
  const hint = await didYouMean(
    verb,
    verbs.concat(Object.keys(replaced)),
    (near) => replaced[near] ?? `${command} ${near}`,
  )
  return `there is no command ${command} ${verb.slice(0, 80)}. ${hint ?? `There are: ${all}`}`
}

async function didYouMean(
  given: string,
  names: readonly string[],
  toCommand = (near: string) => near,
): Promise<string | undefined> {
  const { nearest } = await import('../engine/core/values/nearest.ts')
  const near = nearest(given, names)
  return near === undefined ? undefined : `Did you mean ${toCommand(near)}?`
}

function failWith(message: string): void {
  process.exitCode = 1
  printMessage(message)
}
