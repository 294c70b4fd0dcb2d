import { isRecord } from '../engine/core/schema/check.ts'
import type { WireEvent } from './wire-event.ts'

/** The placeholders that the text of a hook may contain. */
export type Placeholder = '$ARGUMENTS' | '{file}' | '{tool_name}' | '{args}' | '{result}'

export const anyPlaceholder: RegExp = /\$ARGUMENTS|\{(?:file|tool_name|args|result)\}/g

/** The value of a placeholder, unquoted. Never insert it into a shell line. */
export function placeholderValue(name: Placeholder, event: WireEvent): string {
  switch (name) {
    case '$ARGUMENTS':
      return asciiJson(event)
    case '{tool_name}':
      return asText(event.tool_name)
    case '{args}':
      return asText(event.tool_input)
    case '{result}':
      return asText(event.tool_response)
    case '{file}':
      return fileOf(event.tool_input)
  }
}

const fileKeys = ['file_path', 'path', 'file', 'filename', 'notebook_path'] as const

function fileOf(input: unknown): string {
  const key = isRecord(input) ? fileKeys.find((name) => typeof input[name] === 'string') : undefined
  const file = key !== undefined && isRecord(input) ? String(input[key]) : ''
  // Programs would read a name that begins with a dash as an option.
  return file.startsWith('-') ? `./${file}` : file
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(/[\u007f-\uffff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
