import type { PluginFile, PluginSettings } from './plugin/plugin-files.ts'

/** `local` is a project's file that is not shared with others. */
export type ConfigLevel = 'user' | 'project' | 'local'

export type HostEnvironment = Readonly<Record<string, string | undefined>>

/** The folders and variables that decide which configuration files an agent reads. */
export interface HostPaths {
  readonly env: HostEnvironment
  /** Absolute path of the project. */
  readonly project: string
  /** Root of the administrator's files: `/`, or a temporary folder in tests. */
  readonly system: string
}

/** One of an agent's own configuration files. */
export interface AgentConfigFile {
  readonly level: ConfigLevel
  readonly file: string
}

/** One result of a check of a connection. */
export interface HostFinding {
  readonly state: 'ok' | 'warn' | 'bad'
  readonly text: string
  /** What to do about it. */
  readonly hint?: string
}

export const okFinding = (text: string): HostFinding => ({ state: 'ok', text })
export const warnFinding = (text: string, hint: string): HostFinding => ({ state: 'warn', text, hint })
export const badFinding = (text: string, hint: string): HostFinding => ({ state: 'bad', text, hint })

/** How hooks are listed under `hooks.<event>`: in groups with a matcher, or one after the other. */
export type HookLayout = 'groups' | 'flat'

/** A hook found in a configuration file. */
export interface ConfiguredHook {
  readonly event: string
  readonly value: Readonly<Record<string, unknown>>
  readonly matcher: unknown
  /** Index of its group, and its index in the group. */
  readonly at: readonly [number, number]
}

/** What an agent's own parser accepts beyond plain JSON, as observed. */
export interface ConfigSyntax {
  readonly comments?: true
  readonly byteOrderMark?: true
  /** The only top-level keys that the agent accepts. If omitted, it accepts any. */
  readonly onlyKeys?: readonly string[]
}

/**
 * How the client prints a refusal where the agent ignores exit code 2 or hides its reason. `tool`, `prompt` and
 * `permission-any` hold the fields of every agent that may run the entry.
 */
export type RefusalFormat =
  | 'permission'
  | 'permission-camel'
  | 'permission-any'
  | 'decision'
  | 'prompt'
  | 'tool'

/** A harmless event that `hookhelm doctor` sends, in the field names that most agents use. */
export interface SamplePayload {
  readonly session_id: string
  readonly cwd: string
  readonly hook_event_name: string
  readonly transcript_path: null
  /** Only on events about a tool. */
  readonly tool_name?: string
  readonly tool_input?: Readonly<Record<string, unknown>>
  readonly tool_use_id?: string
  readonly prompt?: string
  readonly subagent_type?: string
  readonly task?: string
}

interface HostBase {
  /** The name of the adapter. */
  readonly agent: string
  /** Programs that start the agent, the usual one first. */
  readonly programs: readonly string[]
  /** Folders below the home folder where the agent's own installer puts its program. */
  readonly installFolders?: readonly string[]
  /** The agent's own folder. */
  home(env: HostEnvironment): string
  configFiles(paths: HostPaths): readonly AgentConfigFile[]
  /** Files of other agents whose hooks this agent runs too. */
  alsoReads?(paths: HostPaths): readonly string[]
  /** What a person must do before the agent runs hooks of this level. */
  trustNotice(level: ConfigLevel): string | undefined
  /** Settings and policies that stop the agent from running the hooks of this file. */
  findDisabled(paths: HostPaths, config: AgentConfigFile): readonly HostFinding[]
  /** Trust that the agent still asks for, as far as its files show it. */
  findUntrusted(
    paths: HostPaths,
    config: AgentConfigFile,
    ours: readonly ConfiguredHook[],
  ): readonly HostFinding[]
}

/** An agent that runs a command for each event. */
export interface CommandHost extends HostBase {
  readonly transport: 'command'
  readonly layout: HookLayout
  readonly syntax: ConfigSyntax
  /** Keys below `hooks` that are not events. */
  readonly notEvents?: readonly string[]
  /** Keys that the file needs next to `hooks`. */
  readonly preamble?: Readonly<Record<string, unknown>>
  /** Only Hookhelm writes this file, so disconnecting deletes it. */
  readonly ownFile?: true
  /** The key of the command line in an entry. Agents that share a file read only this key, so it holds everything. */
  readonly commandKey: string
  readonly timeout: { readonly key: string; readonly unitMs: number }
  /** Fields of every entry. */
  readonly always: Readonly<Record<string, unknown>>
  /** Fields of the entries that must block when they fail. */
  readonly closing: Readonly<Record<string, unknown>>
  /** Events that `connect` never registers. */
  readonly never: readonly string[]
  readonly refusals: Readonly<Record<string, RefusalFormat>>
  /** Variables that the agent sets for its hooks. */
  hookEnvironment(paths: HostPaths): Readonly<Record<string, string>>
  /** Changes a sample to the agent's own shape, if that differs. */
  samplePayload?(sample: SamplePayload): Readonly<Record<string, unknown>>
}

/** One value that a connection adds to an agent's configuration. */
export type ConfigEdit =
  | { readonly kind: 'value'; readonly path: readonly string[]; readonly value: object }
  | {
      readonly kind: 'item'
      /** Path of the list that gets the item. */
      readonly path: readonly string[]
      readonly item: string
      /** Recognises items of this and of earlier versions. */
      isOurs(item: unknown): boolean
      /** Add the item only if the list exists. */
      readonly onlyIfListed?: true
    }

/** An agent that loads a plugin. */
export interface PluginHost extends HostBase {
  readonly transport: 'plugin'
  /** The folder that receives the plugin's files. */
  pluginFolder(config: AgentConfigFile, dataFolder: string): string
  /** The file in that folder that the agent loads. */
  readonly entryFile: string
  /** The plugin's files, with paths relative to that folder. */
  pluginFiles(settings: PluginSettings): readonly PluginFile[]
  /** What the configuration must say so that the agent loads the plugin. None if its folder is enough. */
  configEdits(pluginFolder: string): readonly ConfigEdit[]
}

export type AgentHost = CommandHost | PluginHost
