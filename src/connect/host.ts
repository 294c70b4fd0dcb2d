import type { PluginSettings } from '../agents/plugin/settings.ts'
import type { Target } from './target.ts'
import type { Layout, PlacedHook } from './text/hook-lists.ts'
import type { Reader } from './text/readable.ts'

/** `local` is a project's file that is not shared with others. */
export type Level = 'user' | 'project' | 'local'

export type Environment = Readonly<Record<string, string | undefined>>

export interface Where {
  readonly env: Environment
  /** The project that is meant, by its absolute path. */
  readonly project: string
  /** Where the files of an administrator begin: `/`. */
  readonly system: string
}

/** One of an agent's own configuration files. */
export interface Place {
  readonly level: Level
  readonly file: string
}

/** Something about a connection that is good, doubtful or bad. */
export interface Finding {
  readonly state: 'ok' | 'warn' | 'bad'
  readonly text: string
  readonly hint?: string
}

interface Common {
  /** As the adapter is called. */
  readonly agent: string
  /** What it is started by, the usual name first. */
  readonly programs: readonly string[]
  /** Where it keeps what is its own: if it is there, so is the agent. */
  home(env: Environment): string
  places(where: Where): readonly Place[]
  /** What a person must do before hooks written there are used, or nothing. */
  trust(level: Level): string | undefined
  /** Switches and policies that would silence hooks in this place. */
  switchedOff(where: Where, place: Place): readonly Finding[]
  /** Trust that is missing, as far as it can be seen. */
  untrusted(where: Where, place: Place, ours: readonly PlacedHook[]): readonly Finding[]
}

/** An agent that runs a command for each event. */
export interface CommandHost extends Common {
  readonly transport: 'command'
  readonly layout: Layout
  /** What its reader takes beyond plain JSON. */
  readonly reads: Reader
  /** Keys below `hooks` that are no events. */
  readonly notEvents?: readonly string[]
  readonly preamble?: Readonly<Record<string, unknown>>
  /** The file is ours alone, and goes when nothing is left in it. */
  readonly ownFile?: true
  /** `exec` starts the program without a shell; `shell` is a line, under this key. */
  readonly form: { readonly kind: 'exec' } | { readonly kind: 'shell'; readonly key: string }
  readonly timeout: { readonly key: string; readonly unitMs: number }
  /** On every entry. */
  readonly always: Readonly<Record<string, unknown>>
  /** On entries that must close when they fail. */
  readonly closing: Readonly<Record<string, unknown>>
  /** Events that must not be connected at all. */
  readonly never: readonly string[]
  /** How a refusal is told where exit code 2 is not honoured. */
  readonly refusals: Readonly<Record<string, Refusal>>
  /** Variables that it gives its hooks. */
  hookEnvironment(where: Where): Readonly<Record<string, string>>
}

export type Refusal = 'permission' | 'permission-camel' | 'decision'

/** An agent that loads a plugin. */
export interface PluginHost extends Common {
  readonly transport: 'plugin'
  /** The file of ours that it loads. */
  pluginFile(place: Place, dataFolder: string): string
  /** What is written where, the configuration last. */
  targets(place: Place, dataFolder: string, settings: PluginSettings): readonly Target[]
}

export type Host = CommandHost | PluginHost
