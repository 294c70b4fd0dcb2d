import { HookError } from '../engine/core/error.ts'
import { command, exitCodes } from './command.ts'
import type { CommandRow } from './commands.ts'
import { printOutput } from './output.ts'

const generators: Readonly<Record<string, (rows: readonly CommandRow[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

export function createCompletionCommand(rows: readonly CommandRow[]) {
  const shells = Object.keys(generators).join(', ')
  return command({
    args: { shell: { type: 'positional', required: true, description: shells } },
    run({ shell }) {
      const generate = Object.hasOwn(generators, shell) ? generators[shell] : undefined
      if (generate === undefined)
        throw new HookError('config.field', `there is no completion for ${shell.slice(0, 80)}`, {
          hint: `Name one of ${shells}.`,
        })
      printOutput(generate(rows))
      return exitCodes.ok
    },
  })
}

/** Bash calls the function with the command, the current word and the previous word. */
function bashScript(rows: readonly CommandRow[]): string {
  return [
    '# eval "$(hookhelm completion bash)"',
    '_hookhelm() {',
    '  local words=""',
    '  case $COMP_CWORD:$3 in',
    `    1:*) words='${rows.map(({ name }) => name).join(' ')} --help --version' ;;`,
    ...withVerbs(rows).map(({ name, verbs }) => `    2:${name}) words='${verbs.join(' ')}' ;;`),
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$2"))',
    '}',
    'complete -o default -F _hookhelm hookhelm',
  ].join('\n')
}

function zshScript(rows: readonly CommandRow[]): string {
  return [
    '#compdef hookhelm',
    '# source <(hookhelm completion zsh)',
    '_hookhelm() {',
    '  local -a choices',
    '  if (( CURRENT == 2 )); then',
    '    choices=(',
    ...rows.map(({ name, about }) => `      ${quote(`${name}:${about.replaceAll(':', '\\:')}`)}`),
    '    )',
    '    _describe command choices',
    '  elif (( CURRENT == 3 )); then',
    '    case $words[2] in',
    ...withVerbs(rows).map(({ name, verbs }) => `      ${name}) compadd ${verbs.join(' ')} ;;`),
    '      *) _files ;;',
    '    esac',
    '  else',
    '    _files',
    '  fi',
    '}',
    'compdef _hookhelm hookhelm',
  ].join('\n')
}

function fishScript(rows: readonly CommandRow[]): string {
  return [
    '# hookhelm completion fish | source',
    ...rows.map(
      ({ name, about }) => `complete -c hookhelm -n __fish_use_subcommand -f -a ${name} -d ${quote(about)}`,
    ),
    ...withVerbs(rows).map(
      ({ name, verbs }) =>
        `complete -c hookhelm -n '__fish_seen_subcommand_from ${name}' -f -a ${quote(verbs.join(' '))}`,
    ),
  ].join('\n')
}

function withVerbs(rows: readonly CommandRow[]) {
  return rows.flatMap(({ name, verbs }) => (verbs === undefined ? [] : [{ name, verbs }]))
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
