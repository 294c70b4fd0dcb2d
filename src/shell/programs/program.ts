import type { FileCall, ProgramCall } from '../commands/program-call.ts'
import type { ShellOutcome } from '../evaluate/shell-state.ts'
import type { ShellText } from '../expand/shell-text.ts'

/**
 * What a program does with its words. An aspect that a record does not state keeps the fallback (`commands/fallback.ts`), and
 * `'none'` says that there is none. A subcommand has what its program states, unless it states that aspect itself.
 */
export interface Program {
  /**
   * Its options: `recursive=r` is a long option with its short name, `R=r` another short name, a final colon means that the
   * option takes a value, `+` that options end at the first operand, and `-` that long options have one hyphen. An option that
   * is not listed takes no value. The other fields name options by their shortest names.
   */
  readonly options?: string
  /** Those that have a record. The first operand of a program with this field is a subcommand, listed or not. */
  readonly subcommands?: Programs
  readonly reads?: Words | 'none'
  readonly writes?: Words | 'none'
  readonly deletes?: Words
  /** Files that the words alone do not tell. */
  readonly files?: (call: FileCall) => void
  readonly hosts?: Hosts | ((call: ProgramCall) => void) | 'none'
  /** The command in its words; `announced`: a word such as `rm` is a command only after one like `exec` or `--`. */
  readonly runs?: Wrapper | 'announced' | 'none'
  /** Options whose value is shell code. */
  readonly code?: readonly string[]
  /** The option that names the folder in which it works. */
  readonly folder?: string
  /** The option and the variable that name the folder whose files it changes, if that is another one. */
  readonly tree?: { readonly option: string; readonly variable: string }
  /** Code that it gets by its input or in a form of its own. */
  readonly special?: (call: ProgramCall, texts: readonly string[]) => void
  /** It runs code of another language, which it gets by these words. */
  readonly inlineCode?: RegExp
  /** All that it does. */
  readonly run?: (call: ProgramCall) => ShellOutcome
  /** What it prints, if that follows from its arguments. */
  readonly prints?: (call: ProgramCall) => ShellText | undefined
}

/** Records by name. Several names, separated by blanks, share one record; a text is the name of the program that it is. */
export type Programs = Readonly<Record<string, Program | string>>

/** `all` operands, `first`, `last`, `rest` (all but the first), `init` (all but the last), or the value of an option. */
type Place = 'all' | 'first' | 'last' | 'rest' | 'init' | `-${string}`

/** Which words are files. `/**` covers everything below, and `if -w` limits a rule to calls with that option. */
export type Words = readonly (Place | `${Place}/**` | `${Place}${'' | '/**'} if -${string}`)[]

/** The machines that a program contacts. */
export interface Hosts {
  /** Its operands are addresses, the first one is a host, or some are `user@host:path`. */
  readonly operands?: 'url' | 'host' | 'copy'
  /** Options whose value is an address. */
  readonly options?: readonly string[]
  /** The host that it contacts without being told. */
  readonly always?: string
  /** The subcommands with which it does. */
  readonly on?: RegExp
  /** Operands are modules, whose names start with a host. */
  readonly modules?: true
}

/** How a program runs the command in its operands. */
export interface Wrapper {
  /** How many operands come before the command. */
  readonly after?: number
  /** The command runs elsewhere, and the operand before it says where. */
  readonly remote?: true
  /** `NAME=value` may come before the command. */
  readonly assignments?: true
  /** The words of the command are joined and given to a shell; `each`: every word is a line of code. */
  readonly joins?: 'joined' | 'each'
  /** Options with which the words are joined and given to a shell. */
  readonly joinOptions?: readonly string[]
  /** Options with which nothing runs. */
  readonly inert?: readonly string[]
  /** Options may follow operands, and only what comes after `--` is a command. */
  readonly mixed?: true
  /** Runs if no command is given. */
  readonly fallback?: string
  /** The option that names the program; the words behind it are its arguments. */
  readonly program?: string
  /** Options that make the command load code from a file. */
  readonly loads?: readonly string[]
  /** The name of an environment may come before the program: `test:pytest`. */
  readonly environment?: true
  /** It runs this program with its own arguments. */
  readonly other?: string
}

/** All its words are text: it reads, writes, contacts and runs nothing that they name. */
export const nothing = {
  reads: 'none',
  writes: 'none',
  hosts: 'none',
  runs: 'none',
} as const satisfies Program

/** A program whose subcommands have names such as `rm`. */
export const withSubcommands = { subcommands: {}, runs: 'announced' } as const satisfies Program

/** Records that share what most of them state. */
export function family(common: Program, records: Programs): Programs {
  return Object.fromEntries(Object.entries(records).map(([names, record]) => [names, typeof record === 'string' ? record : { ...common, ...record }]))
}
