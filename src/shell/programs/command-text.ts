import { exactField } from '../expand/shell-text.ts'
import { parseOptions } from './parse-options.ts'
import { isShell } from './program-name.ts'
import { hasOptionTable, optionsOf } from './program-options.ts'
import { findWrapper } from './run-wrapper.ts'

/** Names that, with an option or subcommand of their own behind them, are a command and no ordinary words. */
const commandNames = new Set(
  `rm rmdir unlink shred dd mv cp ln chmod chown truncate tee mkfs wipefs cat sed awk perl python python3 node ruby php curl wget nc
  ssh scp rsync git docker podman kubectl terraform aws gcloud az npm npx psql mysql sudo doas su env nohup timeout nice xargs find busybox
  crontab systemctl shutdown reboot kill pkill tar`
    .split(/\s+/)
    .filter((name) => name !== ''),
)

/** Calls with which code of another language runs programs or deletes files. */
const codeCalls =
  /\b(?:system|popen\d?|exec[lv]?p?e?|execSync|execFile(?:Sync)?|spawn(?:Sync)?|shell_exec|passthru|proc_open|rmtree|rm_rf|rm_r|rmSync|unlink(?:Sync)?|removeSync|os\.remove(?:dirs)?)\s*\(|\bsubprocess\.|\bchild_process\b|\bexec\.Command\(|\bCommand::new\(|\bProcessBuilder\b|\bgetRuntime\(|\bdo shell script\b|\bplatform shell\b|\bwrite18\b|\b(?:from|to) program\b/i

const MAX_TEXT = 65_536

/** Whether code of another language runs programs or deletes files. */
export function callsPrograms(code: string): boolean {
  return codeCalls.test(code)
}

export function isCommandName(word: string): boolean {
  const name = word.slice(word.lastIndexOf('/') + 1)
  return (
    commandNames.has(name) || /^mkfs\./.test(name) || (isShell(name) && name !== 'sh') || word === '/bin/sh'
  )
}

/** Whether a word and the next one are the start of a command: `rm -rf`, `git push`, `sh -c`, `sudo rm`. */
export function isCommandStart(word: string, next: string | undefined): boolean {
  const name = word.slice(word.lastIndexOf('/') + 1)
  if (next === undefined) return false
  if (isShell(name)) return /^-\w*c$/.test(next)
  if (!isCommandName(word)) return false
  if (hasOptionTable(`${name} ${next}`) || findWrapper(name, [exactField(next)])?.name === `${name} ${next}`)
    return true
  if (findWrapper(name, [])?.name === name && isCommandName(next)) return true
  if (/^(?:chmod|chown)$/.test(name)) return /^(?:-R|[0-7]{3,4}|[ugoa]*[-+=][rwxXst]+|\w+:\w*)$/.test(next)
  if (/^(?:curl|wget)$/.test(name) && /^https?:/.test(next)) return true
  if (name === 'dd') return /^(?:if|of)=/.test(next)
  return next.startsWith('-') && hasOnlyKnownOptions(name, next)
}

function hasOnlyKnownOptions(program: string, option: string): boolean {
  const spec = optionsOf(program)
  const { options } = parseOptions([exactField(option)], spec)
  return options.length > 0 && options.every(({ name }) => spec.names.has(name))
}

/** Whether a text is shell code: one of its commands starts like a command. */
export function isCode(text: string, isAnnounced: boolean): boolean {
  if (text.length > MAX_TEXT) return false
  return text.split(/&&|\|\||[;|\n]/).some((command) => {
    const [word = '', next] = command
      .trim()
      .replace(/^(?:exec|spawn|run)\s+/, '')
      .split(/\s+/)
    return isAnnounced ? isCommandName(word) || isCommandStart(word, next) : isCommandStart(word, next)
  })
}

/** Commands inside of quotes: `commands=["rm -rf x"]`, `system('rm -rf x')`. */
export function quotedCommands(text: string): readonly string[] {
  if (text.length > MAX_TEXT) return []
  return [...text.matchAll(quotedText)].map(unquote).filter((each) => isCode(each, false))
}

const quotedText = /"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|`([^`]*)`/g

function unquote([, double, single, back]: readonly string[]): string {
  return (double ?? single ?? back ?? '').replace(/\\(.)/g, '$1')
}

/** Commands that code of another language contains in plain sight: in quotes, or as a list of words in quotes. */
export function commandsInCode(code: string): readonly string[] {
  if (code.length > MAX_TEXT || !(codeCalls.test(code) || code.includes('`'))) return []
  const words = [...code.matchAll(quotedText)].map(unquote)
  const start = words.findIndex((word, index) => !/\s/.test(word) && isCommandStart(word, words[index + 1]))
  const list = start === -1 ? [] : [words.slice(start).map(asWord).join(' ')]
  return [...quotedCommands(code), ...list]
}

function asWord(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
