/** What a hook is given for a test: nothing that would do anything, and a session that says whose it is. */
export interface Sample {
  readonly agent: string
  readonly event: string
  readonly session: string
  readonly cwd: string
}

const COMMAND = { command: 'true' }
const PROMPT = 'hookhelm doctor: a test, nothing to do'

type Fields = Readonly<Record<string, unknown>>

/** The tool that runs commands, as each agent calls it. */
const shells: Readonly<Record<string, string>> = { 'gemini-cli': 'run_shell_command', cursor: 'Shell' }

/** A payload as the agent itself would send it. */
export function samplePayload(sample: Sample): Fields {
  return sample.agent === 'copilot-cli' ? camel(sample) : snake(sample)
}

function snake({ agent, event, session, cwd }: Sample): Fields {
  return {
    session_id: session,
    // Cursor has another name for it.
    ...(agent === 'cursor' ? { conversation_id: session, workspace_roots: [cwd] } : {}),
    transcript_path: null,
    cwd,
    hook_event_name: event,
    ...aboutEvent(event, {
      tool_name: shells[agent] ?? 'Bash',
      tool_input: COMMAND,
      tool_use_id: `${session}-call`,
    }),
  }
}

function camel({ event, session, cwd }: Sample): Fields {
  return {
    sessionId: session,
    timestamp: 0,
    cwd,
    ...aboutEvent(event, { toolName: 'bash', toolArgs: COMMAND, toolInput: COMMAND }),
  }
}

function aboutEvent(event: string, tool: Fields): Fields {
  if (/tool|permission|mcp/i.test(event)) return tool
  if (/prompt|beforeagent/i.test(event)) return { prompt: PROMPT }
  return /subagent/i.test(event) ? { subagent_type: 'doctor', task: PROMPT } : {}
}
