#!/usr/bin/env node
/** The entry of `hookhelm`. It answers `--version` and `--help` from the command table, and loads code for nothing else. */
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type CommandRow, commands } from './commands.ts'
import { formatTable, printMessage, printOutput } from './output.ts'
import { packageVersion } from './package-version.ts'

const args = process.argv.slice(2)
const [name = '', ...rest] = args
const row = commands.find((each) => each.name === name)

if (name === '--version' || name === '-v') printOutput(packageVersion())
else if (name === '--help' || name === '-h') printOutput(helpText())
else if (row === undefined) await rejectCommand()
else if (row.load === undefined) await printCompletion()
else await run(row.about, row.load)

async function run(about: string, load: NonNullable<CommandRow['load']>): Promise<void> {
  cacheCompiledCode()
  const [{ runCommand, runMain }, loaded] = await Promise.all([import('citty'), load()])
  const command = typeof loaded === 'function' ? await loaded() : await loaded
  const main = {
    meta: { name: 'hookhelm', version: packageVersion() },
    subCommands: { [name]: { ...command, meta: { name, description: about } } },
  }
  // Words after `--` belong to another program, including its `-h`.
  const end = rest.indexOf('--')
  const help = rest.findIndex((word) => word === '-h' || word === '--help')
  if (end !== -1 && (help === -1 || end < help)) await runCommand(main, { rawArgs: args })
  else await runMain(main, { rawArgs: args })
}

/** In a folder that only the user can write to: Node's default below /tmp could hold another user's code. */
function cacheCompiledCode(): void {
  const isBuilt = import.meta.url.endsWith('.js')
  const folder = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  if (isBuilt) enableCompileCache(join(folder, 'hookhelm', 'compiled'))
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
  process.exitCode = 1
  printMessage(`usage: hookhelm completion ${row?.verbs?.join('|')}`)
}

async function rejectCommand(): Promise<void> {
  process.exitCode = 1
  if (name === '') {
    printMessage(helpText())
    return
  }
  const { nearest } = await import('../engine/core/nearest.ts')
  const near = nearest(
    name,
    commands.map((each) => each.name),
  )
  const hint = near === undefined ? 'Run `hookhelm --help` to list the commands.' : `Did you mean ${near}?`
  printMessage(
    name.startsWith('-')
      ? `flags come after the command: hookhelm <command> ${name.slice(0, 80)}`
      : `there is no command ${name.slice(0, 80)}. ${hint}`,
  )
}
