import { hasOption, optionValues } from '../commands/parse-options.ts'
import type { FileCall } from '../commands/program-call.ts'
import { isShell } from '../commands/program-name.ts'
import { runCodeOf } from '../commands/run-code.ts'
import { describeUnreadScript, scriptContent } from '../evaluate/script-content.ts'
import { insideStep } from '../evaluate/shell-run.ts'
import { describeField, exactField, fieldText, knownText, type WordField } from '../expand/shell-text.ts'

export function runSed({ parsed: { options, operands }, add, invocation }: FileCall): void {
  const { state, frame, at } = invocation
  const scripts = optionValues(options, 'e')
  const hasScript = scripts.length > 0 || hasOption(options, 'f')
  const all = hasScript ? scripts : operands.slice(0, 1)
  for (const file of optionValues(options, 'f')) {
    add('reads', file)
    const content = knownText(scriptContent(file, state, frame))
    if (content === undefined) frame.run.record.addOpaque('script', describeUnreadScript(file), at)
    else all.push(exactField(content))
  }
  for (const field of all) {
    const text = knownText(fieldText(field))
    const { writes, reads, runsCode, commands } = readSedScript(text ?? describeField(field))
    for (const code of commands) runCodeOf(invocation, [code])
    for (const path of writes) add('writes', exactField(path))
    for (const path of reads) add('reads', exactField(path))
    if (runsCode || isUnknownScript(field))
      frame.run.record.addOpaque('inline-code', 'the script of sed may run commands', at)
  }
  for (const field of hasScript ? operands : operands.slice(1)) {
    add('reads', field)
    if (hasOption(options, 'i')) add('writes', field)
  }
}

/** A script that is nothing but a value which is not known. With known text around it, it counts as text. */
function isUnknownScript(field: WordField | undefined): boolean {
  return field?.length === 1 && typeof field[0]?.value === 'object'
}

export function runAwk({ invocation, parsed: { options, operands }, add }: FileCall): void {
  const { program, frame, at, state } = invocation
  const hasFile = hasOption(options, 'f', 'e', 'l')
  const [script] = hasFile ? [] : operands
  const { commands, writes, isCertain } = readAwkProgram(script ? describeField(script) : '')
  for (const each of commands) frame.run.runCode([each], { ...state }, insideStep(frame, program))
  for (const path of writes) add('writes', exactField(path))
  if (!isCertain || isUnknownScript(script) || hasFile)
    frame.run.record.addOpaque('inline-code', `the program of ${program} may run commands or write files`, at)
  const isInPlace = optionValues(options, 'i').some((value) => describeField(value) === 'inplace')
  for (const field of hasFile ? operands : operands.slice(1)) {
    if (/^\w+=/.test(describeField(field))) continue
    add('reads', field)
    if (isInPlace) add('writes', field)
  }
}

/** What a sed script does beyond editing text. `runsCode`: it runs commands, or cannot be understood. */
function readSedScript(script: string) {
  const writes: string[] = []
  const reads: string[] = []
  const commands: string[] = []
  let pos = 0
  let runsCode = false
  const restOfLine = (): string => {
    const end = script.indexOf('\n', pos)
    const rest = script.slice(pos, end === -1 ? undefined : end)
    pos = end === -1 ? script.length : end
    return rest.trim()
  }
  while (pos < script.length) {
    pos = skipAddress(script, pos)
    const command = script[pos++]
    if (command === undefined) break
    if (command === 's' || command === 'y') {
      const end = skipDelimited(script, pos, 2)
      if (end === undefined) return { writes, reads, commands, runsCode: true }
      pos = end
      const flags = /[gpiImM0-9e]*/y
      flags.lastIndex = pos
      const found = flags.exec(script)?.[0] ?? ''
      pos += found.length
      if (command === 's' && found.includes('e')) runsCode = true
      if (command === 's' && script[pos] === 'w') {
        pos++
        writes.push(restOfLine())
      }
    } else if (command === 'w' || command === 'W') writes.push(restOfLine())
    else if (command === 'r' || command === 'R') reads.push(restOfLine())
    else if (command === 'e') {
      runsCode = true
      commands.push(restOfLine())
    } else if ('aic'.includes(command)) skipText()
    else if ('btT:#'.includes(command)) restOfLine()
  }
  return { writes, reads, commands: commands.filter((each) => each !== ''), runsCode }

  function skipText(): void {
    while (restOfLine().endsWith('\\') && pos < script.length) pos++
  }
}

/** Skips blanks, separators and addresses before a command. */
function skipAddress(script: string, start: number): number {
  let pos = start
  for (;;) {
    const plain = /[\s;{}0-9,$~+!]+/y
    plain.lastIndex = pos
    pos += plain.exec(script)?.[0].length ?? 0
    if (script[pos] === '\\') pos++
    else if (script[pos] !== '/') return pos
    const end = skipDelimited(script, pos, 1)
    if (end === undefined) return script.length
    pos = end
    const flags = /[IM]*/y
    flags.lastIndex = pos
    pos += flags.exec(script)?.[0].length ?? 0
  }
}

/** The position after so many parts, each ended by the character at the start. */
function skipDelimited(script: string, start: number, parts: number): number | undefined {
  const delimiter = script[start]
  let left = parts
  let inClass = false
  for (let pos = start + 1; pos < script.length; pos++) {
    const char = script[pos]
    if (char === '\\') pos++
    else if (char === '[' && left === parts) inClass = true
    else if (char === ']') inClass = false
    else if (char === delimiter && !inClass && --left === 0) return pos + 1
  }
  return undefined
}

const text = '"((?:[^"\\\\]|\\\\.)*)"'
const pipedInto = new RegExp(`[^|]\\|&?\\s*${text}`, 'g')
const pipedFrom = new RegExp(`${text}\\s*\\|&?\\s*getline\\b`, 'g')
const called = new RegExp(`\\bsystem\\s*\\(\\s*${text}\\s*\\)`, 'g')
const written = new RegExp(`(\\bprintf?\\b[^;}\\n>]*)>{1,2}\\s*${text}`, 'g')

/** The commands and files that are texts of an awk program. `isCertain`: this is all that it runs and writes. */
function readAwkProgram(program: string) {
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
