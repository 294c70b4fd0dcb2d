import { exactField, isList, knownText, type ShellText } from '../expand/shell-text.ts'
import { type ShellFrame, viaStep } from './shell-run.ts'
import { forkState, type ShellState } from './shell-state.ts'

/** Variables that make programs load code from a file which the analyser does not read. */
const loadingVariables =
  /^(?:DYLD_INSERT_LIBRARIES|GIT_EXEC_PATH|LD_AUDIT|LD_PRELOAD|PERL5DB|PERL5OPT|PYTHONSTARTUP|RUBYOPT)$/

/** Options in variables with which a program loads code. */
const loadingOptions: Readonly<Record<string, RegExp>> = {
  NODE_OPTIONS: /(?:^|\s)(?:-r|--require|--import|--loader|--experimental-loader)\b/,
  JAVA_TOOL_OPTIONS: /-javaagent|-agent(?:path|lib)/,
  _JAVA_OPTIONS: /-javaagent|-agent(?:path|lib)/,
  JDK_JAVA_OPTIONS: /-javaagent|-agent(?:path|lib)/,
  BUN_OPTIONS: /--preload|-r\b/,
  GIT_CONFIG_PARAMETERS: /alias\.|core\.|pager|editor|command|helper|filter|diff|merge|program/i,
  MAKEFLAGS: /--eval|-E\b/,
  TAR_OPTIONS: /checkpoint-action|to-command|use-compress-program|rsh-command|-[IF]\b/,
}

/** Variables that a shell expands before it prints them. */
const promptVariables = /^(?:PS[0124]|R?PROMPT)$/

/** Variables whose value some program runs as a command. */
const codeVariables =
  /^\w*(?:EDITOR|PAGER)$|^(?:\w+_)?(?:VISUAL|BROWSER|RSH|SSH|ASKPASS)$|^(?:\w+_COMMAND|GIT_EXTERNAL_DIFF|LESSOPEN|LESSCLOSE|FCEDIT|MAKESHELL|RUSTC_WRAPPER|CARGO_TARGET_\w+_RUNNER|npm_config_script_shell)$/

/** Runs what programs run because of a variable: `PAGER`, `GIT_SSH_COMMAND`, `BASH_ENV`. */
export function runCodeVariable(name: string, state: ShellState, frame: ShellFrame): void {
  const value = state.variables.get(name)
  if (value === undefined || isList(value) || value.length === 0) return
  const { run, at = 0 } = frame
  const inside = viaStep(frame, name)
  const text = knownText(value)
  if (name === 'PATH' && typeof value[0] === 'object' && value.length === 1 && value[0].source !== '$PATH')
    run.record.addOpaque('program', 'the folders of programs are not known, because PATH is not', at)
  if (loadingVariables.test(name)) run.record.addOpaque('code', `${name} loads code that is not known`, at)
  const options = Object.hasOwn(loadingOptions, name) ? loadingOptions[name] : undefined
  if (options?.test(text ?? ''))
    run.record.addOpaque('code', `${name} has options that load code which is not known`, at)
  if (name === 'BASH_ENV' || (name === 'ENV' && namesFile(value)))
    run.runWords(
      [exactField('.'), value.map((piece) => ({ value: piece, quoted: true }))],
      forkState(state),
      inside,
    )
  if (codeVariables.test(name) && !isWordOnly(text)) run.runCode(value, forkState(state), inside)
  if (promptVariables.test(name) && /\$\(|`/.test(text ?? ''))
    run.runCode([': "', ...value, '"'], forkState(state), inside)
  if (/^BASH_FUNC_.*(?:%%|\(\))$/.test(name)) runExportedFunction(value, state, inside)
  if (/^GIT_CONFIG_VALUE_\d+$/.test(name)) runGitVariable(name, value, { state, frame: inside })
}

/** `ENV` names a script for a shell, but most programs use it for the name of a stage. */
function namesFile([first]: ShellText): boolean {
  return typeof first === 'string' ? first.includes('/') : first?.file !== undefined
}

/** `GIT_PAGER=cat`, `CI_SSH=true`: nothing but a switch or a plain program. */
function isWordOnly(text: string | undefined): boolean {
  return text !== undefined && /^(?:|\d+|true|false|yes|no|on|off)$/i.test(text)
}

/** A shell defines the functions that it inherits; which program they replace is in the name. */
function runExportedFunction(value: ShellText, state: ShellState, frame: ShellFrame): void {
  const { skipsFunctions: _skips, ...inside } = frame
  frame.run.runCode(['inherited ', ...value, '; inherited'], forkState(state), inside)
}

function runGitVariable(
  name: string,
  value: ShellText,
  { state, frame }: { readonly state: ShellState; readonly frame: ShellFrame },
): void {
  const key = state.variables.get(name.replace('VALUE', 'KEY'))
  const setting = key === undefined || isList(key) ? undefined : knownText(key)
  const [first, ...rest] = value
  const isShellCode = typeof first === 'string' && first.startsWith('!')
  const code = isShellCode ? [first.slice(1), ...rest] : value
  if (setting === undefined || isShellCode || commandSettings.test(setting))
    frame.run.runCode(code, forkState(state), frame)
}

/** Settings whose value git runs as a command. */
export const commandSettings =
  /^(core\.(pager|editor|sshcommand|fsmonitor|gitproxy|askpass|alternaterefscommand)|sequence\.editor|pager\..+|diff\.external|diff\..+\.(command|textconv)|merge\..+\.driver|filter\..+\.(clean|smudge|process)|gpg\.(.+\.)?program|(difftool|mergetool|browser|man)\..+\.(cmd|path)|sendemail\.(sendmailcmd|smtpserver|tocmd|cccmd)|credential\.(.+\.)?helper|uploadpack\.packobjectshook|interactive\.difffilter|web\.browser|ssh\.variant|remote\..+\.(uploadpack|receivepack|vcs)|trailer\..+\.(cmd|command)|tar\..+\.command|hook\..+\.command)$/i

/** Settings that name a folder with scripts which git runs. */
export const folderSettings = /^(core\.hookspath|init\.templatedir)$/i
