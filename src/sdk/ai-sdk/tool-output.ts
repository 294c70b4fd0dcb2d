import type { JSONValue, ToolResultPart } from 'ai'

export type ToolOutput = ToolResultPart['output']

/** What the SDK makes of a result when the tool says nothing about it. */
export function usualOutput(output: unknown): ToolOutput {
  if (typeof output === 'string') return { type: 'text', value: output }
  const text: string | undefined = JSON.stringify(output)
  const value: JSONValue = text === undefined ? null : JSON.parse(text)
  return { type: 'json', value }
}

/** The result with what hooks have to say about it. */
export function outputWithContext(output: ToolOutput, context: readonly string[]): ToolOutput {
  const notes = context.join('\n')
  switch (output.type) {
    case 'text':
    case 'error-text':
      return { ...output, value: `${output.value}\n\n${notes}` }
    case 'json':
      return {
        type: 'content',
        value: [
          { type: 'text', text: JSON.stringify(output.value) },
          { type: 'text', text: notes },
        ],
      }
    case 'content':
      return { ...output, value: [...output.value, { type: 'text', text: notes }] }
    default:
      return output
  }
}
