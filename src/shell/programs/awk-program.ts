import { isShell } from './program-name.ts'

/** What an awk program does beyond printing. */
export interface AwkEffects {
  /** The commands that it runs, as far as they are part of the program. */
  readonly commands: readonly string[]
  readonly writes: readonly string[]
  /** Whether this is all that it runs and writes. */
  readonly isCertain: boolean
}

const text = '"((?:[^"\\\\]|\\\\.)*)"'
const pipedInto = new RegExp(`[^|]\\|&?\\s*${text}`, 'g')
const pipedFrom = new RegExp(`${text}\\s*\\|&?\\s*getline\\b`, 'g')
const called = new RegExp(`\\bsystem\\s*\\(\\s*${text}\\s*\\)`, 'g')
const written = new RegExp(`(\\bprintf?\\b[^;}\\n>]*)>{1,2}\\s*${text}`, 'g')

/** Finds the commands and files that are texts of an awk program. */
export function readAwkProgram(program: string): AwkEffects {
  const commands: string[] = []
  const writes: string[] = []
  let isCertain = true
  let rest = program
  if (rest.includes('"'))
    for (const pattern of [pipedFrom, called, pipedInto])
      rest = rest.replace(pattern, (_, command: string) => {
        commands.push(withoutEscapes(command))
        // A shell runs whatever it reads, and `system` is rarely meant well.
        if (pattern !== pipedInto || isShell(command.split(' ')[0] ?? '')) isCertain = false
        return ' '
      })
  rest = rest.replace(written, (_, before: string, path: string) => {
    writes.push(withoutEscapes(path))
    return before
  })
  const isOpen = /\bsystem\s*\(|[^|]\|[^|]|\bgetline\b|\bprintf?\b[^;}\n]*>|@load\b|@include\b/.test(rest)
  return { commands, writes, isCertain: isCertain && !isOpen }
}

function withoutEscapes(given: string): string {
  return given.replace(/\\(.)/g, '$1')
}
