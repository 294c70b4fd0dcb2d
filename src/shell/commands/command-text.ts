import { exactField } from '../expand/shell-text.ts'
import { findRecord, programNamed } from '../programs/programs.ts'
import { NO_OPTIONS, optionSpec, parseOptions } from './parse-options.ts'
import { isShell } from './program-name.ts'
import { callsPrograms } from './run-code.ts'

/** Names that, with an option or subcommand of their own behind them, are a command and no ordinary words. */
const commandNames = new Set(
  `rm rmdir unlink shred dd mv cp ln chmod chown truncate tee mkfs wipefs cat sed awk perl python python3 node ruby php curl wget nc
  ssh scp rsync git docker podman kubectl terraform aws gcloud az npm npx psql mysql sudo doas su env nohup timeout nice xargs find busybox
  crontab systemctl shutdown reboot kill pkill tar`.split(/\s+/),
)

const MAX_TEXT = 65_536

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
  const record = programNamed(name)?.record
  if (record?.subcommands && findRecord(record.subcommands, next)) return true
  if (typeof record?.runs === 'object' && isCommandName(next)) return true
  if (/^(?:chmod|chown)$/.test(name)) return /^(?:-R|[0-7]{3,4}|[ugoa]*[-+=][rwxXst]+|\w+:\w*)$/.test(next)
  if (/^(?:curl|wget)$/.test(name) && /^https?:/.test(next)) return true
  if (name === 'dd') return /^(?:if|of)=/.test(next)
  return next.startsWith('-') && hasOnlyKnownOptions(record?.options, next)
}

function hasOnlyKnownOptions(known: string | undefined, option: string): boolean {
  const spec = known === undefined ? NO_OPTIONS : optionSpec(known)
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
  if (code.length > MAX_TEXT || !(callsPrograms(code) || code.includes('`'))) return []
  const words = [...code.matchAll(quotedText)].map(unquote)
  const start = words.findIndex((word, index) => !/\s/.test(word) && isCommandStart(word, words[index + 1]))
  const list = start === -1 ? [] : [words.slice(start).map(asWord).join(' ')]
  return [...quotedCommands(code), ...list]
}

function asWord(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
