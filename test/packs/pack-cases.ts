import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { load } from 'js-yaml'

const folder = join(import.meta.dirname, 'cases')

/** One event, and whether the pack must stop or change it. */
export interface PackCase {
  /** The line or call as it is written in the file of cases. */
  readonly label: string
  readonly event: 'pre_tool_use' | 'post_tool_use' | 'user_prompt_submit'
  readonly payload: Readonly<Record<string, unknown>>
  readonly mustCatch: boolean
}

/** The cases of one pack. A case whose outcome is not as wanted is listed, so that the rates in the docs are exact. */
export interface PackCases {
  readonly pack: string
  readonly cases: readonly PackCase[]
  /** Labels of cases that the pack must catch and does not. */
  readonly missed: readonly string[]
  /** Labels of cases that the pack must leave alone and does not. */
  readonly alarmed: readonly string[]
}

interface CaseList {
  /** One shell line per line. */
  readonly commands?: string
  /** Tool → its input, or only its path, address or command. */
  readonly calls?: readonly Readonly<Record<string, unknown>>[]
  /** One output of a tool per line. */
  readonly outputs?: string
  /** One prompt per line. */
  readonly prompts?: string
}

interface CaseFile {
  readonly catch: CaseList
  readonly pass: CaseList
  readonly missed?: string
  readonly alarmed?: string
}

export function readPackCases(): PackCases[] {
  return readdirSync(folder)
    .toSorted()
    .map((file) => {
      const cases = load(readFileSync(join(folder, file), 'utf8')) as CaseFile
      return {
        pack: basename(file, '.yaml'),
        cases: [...readList(cases.catch, true), ...readList(cases.pass, false)],
        missed: lines(cases.missed),
        alarmed: lines(cases.alarmed),
      }
    })
}

function readLines(name: string): string[] {
  return lines(readFileSync(join(import.meta.dirname, name), 'utf8'))
}

/** Ordinary commands that `opaque-commands` stops: inline code, unknown paths, and scripts that do not exist where the cases run. */
export const ordinaryAlarms: readonly string[] = readLines('ordinary-alarms.txt')

/** Ordinary commands. No pack may stop them, but for those that are listed as alarms. */
export function readOrdinaryCommands(): PackCase[] {
  return [...readLines('ordinary.txt'), ...ordinaryAlarms].map((label) =>
    call(label, 'Bash', { command: label }, false),
  )
}

function readList({ commands, calls = [], outputs, prompts }: CaseList, mustCatch: boolean): PackCase[] {
  return [
    ...lines(commands).map((label) => call(label, 'Bash', { command: fillSecrets(label) }, mustCatch)),
    ...calls.map((given) => readCall(given, mustCatch)),
    ...lines(outputs).map((label) => ({
      label,
      event: 'post_tool_use' as const,
      payload: {
        tool_name: 'Bash',
        tool_input: { command: 'x' },
        tool_response: { stdout: fillSecrets(label) },
      },
      mustCatch,
    })),
    ...lines(prompts).map((label) => ({
      label,
      event: 'user_prompt_submit' as const,
      payload: { prompt: label },
      mustCatch,
    })),
  ]
}

function readCall(given: Readonly<Record<string, unknown>>, mustCatch: boolean): PackCase {
  const label = JSON.stringify(given)
  const { tool, input } = JSON.parse(fillSecrets(label)) as { tool?: string; input?: Record<string, unknown> }
  if (tool !== undefined) return call(label, tool, input ?? {}, mustCatch)
  const [[name, text] = ['', '']] = Object.entries(JSON.parse(fillSecrets(label)) as Record<string, string>)
  return call(label, name, inputOf(name, text), mustCatch)
}

function inputOf(tool: string, text: string): Record<string, unknown> {
  if (tool === 'Bash') return { command: text }
  if (tool === 'WebFetch') return { url: text, prompt: 'summarise' }
  if (tool === 'Write') return { file_path: text, content: 'x' }
  return tool === 'Edit' ? { file_path: text, old_string: 'a', new_string: 'b' } : { file_path: text }
}

function call(label: string, tool_name: string, tool_input: object, mustCatch: boolean): PackCase {
  return { label, event: 'pre_tool_use', payload: { tool_name, tool_input }, mustCatch }
}

function lines(text = ''): string[] {
  return text.split('\n').filter((line) => line.trim() !== '')
}

const filler = 'aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7d'

/** Secrets of the right shape, put together here so that no file contains one. */
const secrets: Readonly<Record<string, string>> = {
  aws: `AKIA${'IOSFODNN7EXAMPLE'}`,
  github: `ghp_${filler.slice(0, 36)}`,
  npm: `npm_${filler.slice(0, 36)}`,
  openai: `sk-proj-${filler}`,
  anthropic: `sk-ant-api03-${filler}`,
  slack: `xoxb-${'1234567890-'}${filler.slice(0, 24)}`,
  stripe: `sk_live_${filler.slice(0, 24)}`,
  jwt: ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiIxMjM0NTY3ODkwIn0', filler.slice(0, 30)].join('.'),
}

function fillSecrets(text: string): string {
  return text.replace(/@@(\w+)@@/g, (_, name: string) => {
    const secret = secrets[name]
    if (secret === undefined) throw new Error(`there is no secret ${name}`)
    return secret
  })
}
