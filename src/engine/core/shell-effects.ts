/** The shells whose grammar the analyser knows. `sh` means dash. */
export type ShellDialect = 'bash' | 'sh' | 'zsh'

export interface HardLinks {
  readonly names: readonly string[]
  /** How many names were not found. */
  readonly missing: number
}

/** What the analyser may know about the session in which the line would run. */
export interface ShellContext {
  /** The folder in which the line runs. Without it, relative paths stay relative to that folder. */
  readonly cwd?: string
  /** The home folder, for `~` and `$HOME`. */
  readonly home?: string
  /** Variables that are certainly set to these values. Every other variable is unknown. */
  readonly env?: Readonly<Record<string, string>>
  /** The shell that runs the line; `bash` if absent. */
  readonly shell?: ShellDialect
  /** The text of a file, so that a script that the line runs is analysed too; undefined if it cannot be read. */
  readonly readFile?: (path: string) => string | undefined
  /** Where a path leads after its symbolic links; undefined if it cannot be looked up. */
  readonly resolveLink?: (path: string) => string | undefined
  /** The other names of a file with hard links, and how many more there are; undefined if it has one name. */
  readonly hardLinks?: (path: string) => HardLinks | undefined
  /** Folders that are not temporary although they may lie in a folder for temporary files: mounts, the data of a gateway. */
  readonly guarded?: () => readonly string[]
}

/**
 * How certain a text is. `exact`: the program receives this text. `pattern`: the shell replaces it by the names of files that
 * fit. `unknown`: a part of it is known only when the line runs; the text has that part as it is written in the line.
 */
export type Certainty = 'exact' | 'pattern' | 'unknown'

/** One argument as the program receives it. */
export interface ShellArgument {
  readonly text: string
  readonly certainty: Certainty
  /** Whether the argument may become no argument or several: an unquoted unknown value, or a pattern. */
  readonly many?: true
}

/** One simple command that would run. */
export interface ShellCommand {
  /** The name of the program without its folder: `rm`. */
  readonly program: string
  /** The program as written, if it has a folder: `/bin/rm`. */
  readonly path?: string
  /** The subcommand of a program that has some, after global options: `push` of `git -C x push`. */
  readonly subcommand?: string
  /** The flags, each by its shortest name and each once, sorted: `f`, `r` for `-rf`, `-r -f` and `--recursive --force`. */
  readonly flags: readonly string[]
  readonly args: readonly ShellArgument[]
  /** The texts of the arguments that are neither options nor their values, the subcommand included. */
  readonly operands: readonly string[]
  /** How the line gets to this command, outermost first: `sudo`, `sh -c`, `xargs`. */
  readonly via: readonly string[]
  /** The folder in which it runs; absent if it cannot be known, or if the command runs on another machine. */
  readonly cwd?: string
  /** Set if the command runs elsewhere: the host of `ssh`, the container of `docker exec`. */
  readonly remote?: string
  /** The offset in the analysed line. For code inside an argument, the offset of the command that runs it. */
  readonly at: number
}

/** One file, or all files that fit a pattern. */
export interface FileEffect {
  /** Absolute, without `.` and `..`; as written if the folder is unknown. A trailing `/**` covers everything below. */
  readonly path: string
  readonly certainty: Certainty
  /** Where the path leads after symbolic links, if that is another path. */
  readonly target?: string
  /** The program that does it, or the redirection: `tee`, `>`. */
  readonly by: string
  readonly at: number
}

/** One host that a program contacts. */
export interface HostEffect {
  readonly host: string
  readonly certainty: Certainty
  readonly by: string
  readonly at: number
}

/** Why a part of a line cannot be known. */
export type OpaqueReason =
  /** The name of the program is known only when the line runs. */
  | 'program'
  /** Code that a shell runs is known only when the line runs: `curl … | sh`, `sh -c "$X"`. */
  | 'code'
  /** Code of another language: `python -c`, `perl -e`. */
  | 'inline-code'
  /** A shell script on disk that cannot be read, is too large, or changes before it runs. */
  | 'script'
  /** The path of a file that is written or deleted is known only when the line runs. */
  | 'path'
  /** An argument or host that a hook looks for is known only when the line runs. */
  | 'argument'
  /** An option that the analyser does not know decides what runs. */
  | 'option'
  /** The grammar of the shell does not accept the line. */
  | 'syntax'
  /** The line is too long, too deep, or runs too many commands. */
  | 'budget'
  /** Characters that are invisible, or that look like others. */
  | 'characters'
  /** PowerShell and cmd. */
  | 'other-shell'

/** One part of a line that cannot be known, with the place and the reason. */
export interface OpaqueMark {
  readonly reason: OpaqueReason
  /** One sentence for people. */
  readonly detail: string
  readonly at: number
}

/** What a shell line does. */
export interface ShellEffects {
  readonly commands: readonly ShellCommand[]
  readonly writes: readonly FileEffect[]
  readonly reads: readonly FileEffect[]
  readonly deletes: readonly FileEffect[]
  readonly hosts: readonly HostEffect[]
  readonly opaque: readonly OpaqueMark[]
  /** The home folder as `~` names it and where that leads, if it is known. */
  readonly homes?: readonly string[]
  /** The folders that are not temporary wherever they lie, if the line changes files in a folder for temporary ones. */
  readonly guarded?: readonly string[]
}

/** Files that nobody misses. */
export const temporaryFolder = /^\/(?:private\/)?(?:var\/)?tmp(?=\/|$)/

/** Returns what a shell line does. It executes nothing and never throws. `analyzeShell` of `hookhelm/shell` is one. */
export type AnalyzeShell = (line: string, context: ShellContext) => ShellEffects
