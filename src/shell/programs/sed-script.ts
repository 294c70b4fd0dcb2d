/** What a sed script does beyond editing text. */
export interface SedEffects {
  readonly writes: readonly string[]
  readonly reads: readonly string[]
  /** The commands that it runs, as far as they are part of the script. */
  readonly commands: readonly string[]
  /** Whether it runs commands, or cannot be understood. */
  readonly runsCode: boolean
}

/** Finds the commands of a sed script that write files or run programs. */
export function readSedScript(script: string): SedEffects {
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
