import { fieldsOf } from '../../parts/form/fields.ts'

interface ShownRequest {
  readonly agent: string | undefined
  readonly folder: string | undefined
  readonly tool: string | undefined
  /** The most telling argument. */
  readonly what: string | undefined
  readonly input: unknown
}

const telling = ['command', 'file_path', 'path', 'url', 'pattern', 'query', 'prompt', 'description'] as const

/** The parts of a recorded request that people recognise. */
export function readRequest(event: string, request: unknown): ShownRequest {
  const { payload, envelope } = fieldsOf(request)
  const sent = fieldsOf(payload)
  const about = fieldsOf(envelope)
  const input = sent.tool_input ?? sent.prompt ?? payload
  const argument = telling
    .map((name) => textOf(fieldsOf(sent.tool_input)[name]))
    .find((text) => text !== undefined)
  return {
    agent: textOf(about.agent_name) ?? textOf(about.agent) ?? textOf(about.client),
    folder: textOf(about.cwd ?? sent.cwd)
      ?.split('/')
      .at(-1),
    tool: textOf(sent.tool_name),
    what: argument ?? textOf(sent.prompt) ?? textOf(sent.tool_name) ?? event,
    input,
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, 500) : undefined
}
