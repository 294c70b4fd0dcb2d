import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import type { ClientOutcome, NativePayload } from '../../src/agents/agent-adapter.ts'

const folder = new URL('payloads/', import.meta.url)

/** The names of all payloads of an agent: an event, or an event and a case. */
export function payloadNames(agent: string): readonly string[] {
  return readdirSync(new URL(`${agent}/`, folder))
    .map((file) => file.replace(/\.json$/, ''))
    .sort()
}

export function payload(agent: string, name: string): NativePayload {
  return JSON.parse(readFileSync(new URL(`${agent}/${name}.json`, folder), 'utf8'))
}

/** `PreToolUse.in-subagent` is a `PreToolUse`. */
export function eventOf(name: string): string {
  return name.split('.')[0] ?? name
}

export const outcomes = {
  pass: { kind: 'pass', message: 'fine' },
  grant: { kind: 'grant', message: 'go on' },
  ask: { kind: 'ask', message: 'are you sure?' },
  block: { kind: 'block', message: 'not here' },
  context: { kind: 'pass', message: 'fine', context: 'be brief' },
} as const satisfies Readonly<Record<string, ClientOutcome>>

/** No objection, and the input changed. */
export function rewriting(input: unknown): ClientOutcome {
  return { kind: 'pass', message: 'use this one', input }
}

export const silent = { exit: 0, stdout: '', stderr: '' }

/** A reply that says this, as JSON on stdout. */
export function said(output: object) {
  return { exit: 0, stdout: JSON.stringify(output), stderr: '' }
}

export function refused(line: string) {
  return { exit: 2, stdout: '', stderr: `${line}\n` }
}

/** Any characters at all, halves of pairs among them. */
export const anyText = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0x10ffff }), fc.integer({ min: 0, max: 0xff })))
  .map((points) => String.fromCodePoint(...points))
