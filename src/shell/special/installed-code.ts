import { posix } from 'node:path'
import type { ProgramCall } from '../commands/program-call.ts'
import { callsPrograms, childState, runCodeOf } from '../commands/run-code.ts'
import { fileText, scriptContent, withFileContents } from '../evaluate/script-content.ts'
import { insideStep, type ShellFrame } from '../evaluate/shell-run.ts'
import type { ShellState } from '../evaluate/shell-state.ts'
import {
  describeField,
  fieldText,
  knownText,
  type ShellText,
  textAsCode,
  type WordField,
} from '../expand/shell-text.ts'

/** A file that something runs later, without a word of the line. */
interface InstalledFile {
  readonly path: RegExp
  /** The code in it; the whole file if absent. */
  readonly codeIn?: (text: string) => readonly string[]
  /** Where it runs, seen from the file; not known if absent. */
  readonly folder?: 'project' | '..' | 'home' | '/'
}

const matches = (pattern: RegExp) => (text: string) =>
  [...text.matchAll(pattern)].map(([, code = '']) => code)

const installedFiles: readonly InstalledFile[] = [
  { path: /\/\.git\/(?:modules\/.+\/)?hooks\/[^/.]+$|\/\.(?:husky|githooks)\/[^/.]+$/, folder: 'project' },
  { path: /\/package\.json$/, folder: '..', codeIn: packageScripts },
  {
    path: /\/\.(?:bash(?:rc|_profile|_login|_logout|_aliases)|profile|z(?:shrc|shenv|profile|login|logout)|kshrc|xprofile|xinitrc|envrc)$/,
  },
  {
    path: /\/config\.fish$|\/fish\/conf\.d\/[^/]+\.fish$|^\/etc\/(?:profile|bash\.bashrc|rc\.local|profile\.d\/.+|cron\.(?:hourly|daily|weekly|monthly)\/.+|init\.d\/.+)$/,
  },
  {
    path: /^\/etc\/(?:crontab|cron\.d\/.+)$/,
    folder: '/',
    codeIn: (text) => cronCommands(text).map((code) => code.replace(/^\S+\s+/, '')),
  },
  { path: /^\/var\/spool\/cron\//, folder: 'home', codeIn: cronCommands },
  {
    path: /\/systemd\/(?:system|user)\/.+\.(?:service|socket|timer|conf)$/,
    folder: '/',
    codeIn: matches(/^Exec\w+=[-@:+!|]*(.*)$/gm),
  },
  { path: /\/Launch(?:Agents|Daemons)\/[^/]+\.plist$/, folder: '/', codeIn: propertyListProgram },
  { path: /\/(?:autostart|applications)\/[^/]+\.desktop$/, folder: 'home', codeIn: matches(/^Exec=(.*)$/gm) },
]

/** Runs the code of files that the line writes and that something else runs later: git hooks, files of shells, jobs, services. */
export function runInstalledFiles(states: readonly ShellState[], frame: ShellFrame): void {
  const done = new Set<string>()
  for (const state of states)
    for (const [path, content] of state.files) {
      const file = installedFiles.find((each) => each.path.test(path))
      const key = file && JSON.stringify([path, content])
      if (file === undefined || key === undefined || done.has(key)) continue
      done.add(key)
      runInstalled(path, file, content, state, frame)
    }
}

function runInstalled(
  path: string,
  { codeIn, folder }: InstalledFile,
  content: ShellText,
  state: ShellState,
  frame: ShellFrame,
): void {
  // What a file had before the line appends to it is none of the line.
  const added = content.filter((piece) => typeof piece === 'string' || piece.source !== '>>')
  const inside = insideStep({ ...frame, at: 0 }, path)
  const child = { ...childState(state), cwd: folderFor(path, folder, frame.run.context.home) }
  if (codeIn) {
    for (const code of codeIn(textAsCode(added))) frame.run.runCode([code], child, inside)
    return
  }
  const text = knownText(withFileContents(added, state, frame))
  if (text === undefined && !added.some((piece) => typeof piece === 'string'))
    frame.run.record.addOpaque('script', `${path} runs later, and what the line writes to it is not known`, 0)
  else if (text === undefined || !/^#!(?!.*sh\b)/.test(text)) frame.run.runCode(added, child, inside)
  else {
    if (callsPrograms(text))
      frame.run.record.addOpaque('inline-code', `${path} is a program that the line writes`, 0)
    for (const code of frame.run.commandsInCode(text)) frame.run.runCode([code], child, inside)
  }
}

function folderFor(
  path: string,
  folder: InstalledFile['folder'],
  home: string | undefined,
): string | undefined {
  if (folder === 'home') return home
  if (folder === '..') return posix.dirname(path)
  return folder === 'project' ? path.slice(0, path.search(/\/\.(?:git|husky|githooks)\//)) || '/' : folder
}

/** The commands of a table of jobs: five fields or a name such as `@daily`, then code up to a `%`. */
function cronCommands(text: string): readonly string[] {
  return matches(/^[ \t]*(?:@\w+|(?:[^\s#=@]+[ \t]+){4}[^\s#=@]+)[ \t]+((?:\\%|[^%\n])*)/gm)(text)
}

/** The scripts of a package.json. */
function packageScripts(text: string): readonly string[] {
  const scripts = /"scripts"\s*:\s*\{((?:"(?:[^"\\]|\\.)*"|[^"}])*)\}/.exec(text)?.[1] ?? ''
  return matches(/"(?:[^"\\]|\\.)*"\s*:\s*"((?:[^"\\]|\\.)*)"/g)(scripts).map((code) =>
    code.replace(/\\(.)/g, '$1'),
  )
}

/** The program and arguments of a job of launchd, as one line. */
function propertyListProgram(text: string): readonly string[] {
  const list = /<key>Program(?:Arguments)?<\/key>([\s\S]*?)(?:<\/array>|<key>|$)/.exec(text)?.[1] ?? ''
  const words = matches(/<string>([^<]*)<\/string>/g)(list)
  return [
    words.map((word) => (/^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' '),
  ]
}

/** `crontab file`, or jobs by its input. */
export function runCrontab(call: ProgramCall, texts: readonly string[]): void {
  if (texts.some((text) => /^-[lre]$/.test(text))) return
  const [file] = call.levels[0].parsed.operands
  runNamedFile(
    call,
    file && describeField(file) !== '-' ? file : undefined,
    cronCommands,
    'crontab installs commands that run later',
  )
}

/** `launchctl load file` */
export function runLaunchJob(call: ProgramCall, texts: readonly string[]): void {
  const file = call.args.findLast((arg) => describeField(arg).endsWith('.plist'))
  if (/^(?:load|bootstrap)$/.test(texts[0] ?? '') && file)
    runNamedFile(call, file, propertyListProgram, 'launchctl runs a job that is not known')
}

/** `schtasks /create /tr code` */
export function runScheduledTask(call: ProgramCall, texts: readonly string[]): void {
  const at = texts.findIndex((text) => /^\/tr$/i.test(text))
  const code = call.args[at + 1]
  if (at !== -1 && code) runCodeOf(call, fieldText(code))
}

/** Runs the code in a file that the program gets by name or by its input. */
function runNamedFile(
  call: ProgramCall,
  file: WordField | undefined,
  codeIn: (text: string) => readonly string[],
  hidden: string,
): void {
  const { state, frame, at } = call
  const content = file ? (scriptContent(file, state, frame) ?? fileText(file, state)) : frame.stdin
  if (knownText(content) === undefined) frame.run.record.addOpaque('code', hidden, at)
  const home = { ...call, state: { ...state, cwd: frame.run.context.home } }
  for (const code of codeIn(textAsCode(content ?? []))) runCodeOf(home, [code])
}
