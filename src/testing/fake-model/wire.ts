import { isRecord } from '../../engine/core/check.ts'
import type { FakeAnswer } from './fake-answer.ts'

export type FakeProvider = 'anthropic' | 'openai' | 'google' | 'openai-compatible'

type Body = Readonly<Record<string, unknown>>

/** What a request says, whatever the format. */
export interface Said {
  readonly model: string
  /** All system-level text. */
  readonly system: string
  /** All text of the user's side. */
  readonly user: string
  /** Names of the tools on offer. */
  readonly tools: readonly string[]
  /** The tool the model must call, if it must call a certain one. */
  readonly forcedTool: string | undefined
  readonly maxOutputTokens: number | undefined
  readonly temperature: number | undefined
}

/** One format: how its requests are read and how its answers and failures look. */
export interface Wire {
  readonly path: RegExp
  read(body: Body, path: string): Said
  reply(answer: FakeAnswer, model: string): unknown
  refuse(status: number): unknown
}

/** A path into parsed JSON; nothing where it leads nowhere. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, key) => {
    if (Array.isArray(inner)) return typeof key === 'number' ? inner[key] : undefined
    return isRecord(inner) ? inner[key] : undefined
  }, value)
}

export function items(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

/** Text, or the text of each part. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  return items(content)
    .map((part) => textOf(at(part, 'text')))
    .filter(Boolean)
    .join('\n')
}

/** The text of all messages of the given roles. */
export function spoken(messages: unknown, ...roles: readonly string[]): string {
  return items(messages)
    .filter((message) => roles.includes(textOf(at(message, 'role'))))
    .map((message) => contentText(at(message, 'content')))
    .join('\n')
}
