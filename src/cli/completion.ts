import type { CommandRow } from './commands.ts'

/** The completion script of a shell, or `undefined` for an unknown shell. */
export function completionScript(shell: string, rows: readonly CommandRow[]): string | undefined {
  const generators: Readonly<Record<string, typeof bashScript>> = {
    bash: bashScript,
    zsh: zshScript,
    fish: fishScript,
  }
  return Object.hasOwn(generators, shell) ? generators[shell]?.(rows) : undefined
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
