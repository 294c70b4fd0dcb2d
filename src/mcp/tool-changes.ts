import { errorText } from '../engine/core/errors/error.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import type { McpEvent } from './call-gate.ts'
import type { RpcMessage } from './messages/packet.ts'

/** A tool whose definition differs from the one that the user accepted. */
export interface ToolChange {
  readonly tool: string
  readonly diff: string
  /** The first time that this difference is seen. */
  readonly isNew: boolean
}

/** The accepted definitions of a server's tools. The first definition of a tool counts as accepted. */
export interface ToolPins {
  /** Stores new tools and new changes, and returns the tools that differ. Throws if it cannot. */
  compare(tools: readonly RpcMessage[], serverName: string | undefined): readonly ToolChange[]
  /** Whether the tool changed and nobody accepted it. Throws if that cannot be known. */
  isChanged(tool: string): boolean
}

export interface ToolPinOptions {
  readonly pins: ToolPins
  /** What happens to calls of a tool that changed. */
  readonly onChange: 'warn' | 'block'
}

/** Compares the tools of a server with those that the user accepted, and reports each change. */
export class ToolChanges {
  readonly #options: ToolPinOptions | undefined
  readonly #warn: (line: string) => void
  /** Why the latest tools could not be compared. */
  #failure: string | undefined

  constructor(options: ToolPinOptions | undefined, warn: (line: string) => void) {
    this.#options = options
    this.#warn = warn
  }

  /** Returns the events to dispatch. */
  notice(result: unknown, serverName: string | undefined): readonly McpEvent[] {
    if (this.#options === undefined || !isRecord(result) || !Array.isArray(result.tools)) return []
    try {
      const changes = this.#options.pins.compare(result.tools.filter(isRecord), serverName)
      this.#failure = undefined
      return changes.filter(({ isNew }) => isNew).map((change) => this.#report(change, serverName))
    } catch (thrown) {
      this.#failure = `its definition cannot be compared with the accepted one: ${errorText(thrown)}`
      this.#warn(`the tools of the server cannot be compared with the accepted ones: ${errorText(thrown)}`)
      return []
    }
  }

  /** Returns why a call is blocked, if it is. */
  whyBlocked(tool: string, serverName: string): string | undefined {
    if (this.#options?.onChange !== 'block') return undefined
    if (this.#failure !== undefined) return `hookhelm: blocked: ${tool}: ${this.#failure}`
    try {
      return this.#options.pins.isChanged(tool)
        ? `hookhelm: blocked: the server changed the definition of the tool ${tool} after it was accepted. ${review(serverName)}`
        : undefined
    } catch (thrown) {
      return `hookhelm: blocked: it cannot be known whether the tool ${tool} changed: ${errorText(thrown)}`
    }
  }

  #report({ tool, diff }: ToolChange, serverName = 'unknown'): McpEvent {
    const calls = this.#options?.onChange === 'block' ? 'Calls of it are blocked' : 'Calls of it go on'
    const line = `the MCP server ${serverName} changed the definition of the tool ${tool}. ${calls}. ${review(serverName)}`
    this.#warn(line)
    return noticeOf('mcp_tool_changed', `${line}\n\n${diff}`)
  }
}

/** An event that only informs. */
export function noticeOf(notification_type: string, message: string): McpEvent {
  return { event: 'notification', payload: { notification_type, title: 'MCP server', message } }
}

function review(serverName: string): string {
  return `To review and accept it: hookhelm trust --mcp ${serverName}`
}
