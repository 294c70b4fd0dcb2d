/** What `connect` writes into a plugin. */
export interface PluginSettings {
  /** As the gateway knows the agent. */
  readonly agent: string
  /** Of the product that wrote it. */
  readonly version: string
  readonly socket: string
  /** Where events wait that could not be delivered. */
  readonly spool: string
  /** How long an answer is waited for, in milliseconds. */
  readonly within: number
  /** A gate without an answer goes on. */
  readonly failOpen: boolean
  /** Also what comes very often. */
  readonly chatty?: boolean
}

/** A file of a plugin; the path is below the folder where the agent looks for plugins. */
export interface PluginFile {
  readonly path: string
  readonly text: string
}
