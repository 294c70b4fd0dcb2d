import { lookUp } from './tool-names.ts'

type Input = Readonly<Record<string, unknown>>

/**
 * The argument that tells what a call is about, by canonical tool name; the first that is present counts. The gateway
 * returns it with the timeline of a session, so that every client shows the same.
 */
const byTool: Readonly<Record<string, readonly string[]>> = {
  Agent: ['description', 'prompt'],
  AskUserQuestion: ['question', 'questions'],
  Bash: ['command'],
  BashOutput: ['bash_id'],
  Delete: ['file_path'],
  Edit: ['file_paths', 'file_path'],
  ExitPlanMode: ['plan'],
  Glob: ['pattern'],
  Grep: ['pattern'],
  KillShell: ['shell_id'],
  LS: ['path'],
  MultiEdit: ['file_path'],
  NotebookEdit: ['notebook_path'],
  Read: ['file_path', 'file_paths'],
  Skill: ['skill'],
  SlashCommand: ['command'],
  Task: ['description', 'prompt'],
  WebFetch: ['url'],
  WebSearch: ['query'],
  Write: ['file_paths', 'file_path'],
}

/** For tools that are not in the table, such as those of MCP servers. */
const anyTool = ['command', 'file_path', 'path', 'url', 'uri', 'pattern', 'query', 'prompt', 'name', 'text']

/** For events without a tool. */
const byEvent: Readonly<Record<string, readonly string[]>> = {
  agent_event: ['summary', 'name'],
  notification: ['message'],
  pre_compact: ['trigger'],
  session_end: ['reason'],
  session_start: ['source'],
  stop_failure: ['error'],
  subagent_start: ['agent_type', 'prompt'],
  subagent_stop: ['agent_type'],
  task_completed: ['task_subject', 'task_id'],
  task_created: ['task_subject', 'task_id'],
  user_prompt_submit: ['prompt'],
}

/** The argument of an event that tells what it is about: a command, a path, an address, the words of a prompt. */
export function tellingArgument(event: string, payload: Input): string | undefined {
  const { tool_name, tool_input } = payload
  const keys = lookUp(byEvent, event)
  if (keys !== undefined || typeof tool_name !== 'string') return firstText(payload, keys ?? [])
  const input = isInput(tool_input) ? tool_input : {}
  const known = lookUp(byTool, tool_name)
  return firstText(input, known ?? anyTool) ?? (known === undefined ? firstOfAll(input) : undefined)
}

function firstText(input: Input, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const text = Object.hasOwn(input, key) ? toText(input[key]) : undefined
    if (text !== undefined) return text
  }
  return undefined
}

/** The first text of an unknown tool; the first value of any kind if it has no text. */
function firstOfAll(input: Input): string | undefined {
  const keys = Object.keys(input)
  return (
    firstText(
      input,
      keys.filter((key) => typeof input[key] === 'string'),
    ) ?? firstText(input, keys)
  )
}

function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(itemText).join(', ')
  return typeof value === 'number' ? String(value) : undefined
}

function itemText(item: unknown): string {
  return typeof item === 'string' ? item : JSON.stringify(item)
}

function isInput(value: unknown): value is Input {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
