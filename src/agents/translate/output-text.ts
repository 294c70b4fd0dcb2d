import { isRecord } from '../../engine/core/check.ts'

/** Where tools put the text that the model reads, nearest first. */
const keys = ['llmContent', 'textResultForLlm', 'text', 'content', 'stdout', 'output', 'result'] as const

/**
 * The output of a tool as the one text that a client takes in its place. Never empty: a client takes an empty text for none,
 * and would show what was to be hidden.
 */
export function outputText(output: unknown): string {
  const text = textIn(output) ?? JSON.stringify(output) ?? ''
  return text.replace(/[\s\u0085]+/g, '') === '' ? 'a hook removed this output' : text
}

function textIn(output: unknown): string | undefined {
  if (typeof output === 'string') return output
  if (Array.isArray(output)) {
    const texts = output.map(textIn)
    return texts.every((text) => text !== undefined) && texts.length > 0 ? texts.join('\n') : undefined
  }
  if (!isRecord(output)) return undefined
  const key = keys.find((name) => Object.hasOwn(output, name))
  return key === undefined ? undefined : textIn(output[key])
}
