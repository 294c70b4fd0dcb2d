type ToolCallPayload = {
  readonly tool_name: string
  readonly tool_input: Readonly<Record<string, unknown>>
  readonly tool_use_id: string
}

/** The events of an MCP connection. */
export type McpEvent =
  | { readonly event: 'session_start'; readonly payload: { readonly source: string; readonly cwd?: string } }
  | { readonly event: 'session_end'; readonly payload: { readonly reason: string } }
  | { readonly event: 'pre_tool_use'; readonly payload: ToolCallPayload }
  | {
      readonly event: 'post_tool_use'
      readonly payload: ToolCallPayload & { readonly tool_response: unknown; readonly duration_ms: number }
    }
  | {
      readonly event: 'post_tool_use_failure'
      readonly payload: ToolCallPayload & { readonly error: unknown }
    }
