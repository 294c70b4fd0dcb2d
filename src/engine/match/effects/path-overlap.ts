/**
 * One step of a pattern: any text, any text within a folder, the first character of a name that does not start with a dot, one
 * character, or this character.
 */
type Step = 'any' | 'segment' | 'visible' | 'one' | number

/**
 * Whether a pattern of a hook and a pattern of a shell have a path in common: `./prod.cfg` and `*.cfg`. In the pattern of a hook
 * `*` also matches `/`; in that of a shell only `**` does.
 */
export function pathsOverlap(hookPattern: string, shellPattern: string): boolean {
  return haveCommonText(readHookSteps(hookPattern), readShellSteps(shellPattern))
}

function readHookSteps(pattern: string): Step[] {
  return Array.from(pattern, (character) =>
    character === '*' ? 'any' : character === '?' ? 'one' : (character.codePointAt(0) ?? 0),
  )
}

function readShellSteps(pattern: string): Step[] {
  const steps: Step[] = []
  for (const [token] of pattern.matchAll(/\*\*\/?|\[!?\]?[^\]]*\]|./gsu)) {
    const isFirst = steps.length === 0 || steps.at(-1) === SLASH
    // `**/` may be no folder at all.
    if (token.startsWith('**')) steps.push('any')
    // The shell does not replace a `*` by names that start with a dot.
    else if (token === '*')
      steps.push(...(isFirst ? (['visible', 'segment'] as const) : (['segment'] as const)))
    // A class counts as any character: a false overlap is safer than a missed one.
    else if (token === '?' || token.length > 2) steps.push('one')
    else steps.push(...Array.from(token, (character) => character.codePointAt(0) ?? 0))
  }
  return steps
}

const SLASH = 0x2f
const DOT = 0x2e

/** Walks both patterns at once; each pair of positions is visited once. */
function haveCommonText(hook: readonly Step[], shell: readonly Step[]): boolean {
  const width = shell.length + 1
  const seen = new Uint8Array((hook.length + 1) * width)
  const open = [0]
  seen[0] = 1
  const visit = (left: number, right: number): void => {
    const place = left * width + right
    if (seen[place] === 1) return
    seen[place] = 1
    open.push(place)
  }
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const left = Math.floor(place / width)
    const right = place % width
    if (left === hook.length && right === shell.length) return true
    const a = hook[left]
    const b = shell[right]
    if (a === 'any') visit(left + 1, right)
    if (b === 'any' || b === 'segment') visit(left, right + 1)
    // An empty name skips the rest of the star too.
    if (b === 'visible') visit(left, right + 2)
    if (a === undefined || b === undefined) continue
    if (a === 'any') visit(left, right + 1)
    else if (b === 'any') visit(left + 1, right)
    else if (b === 'segment') a !== SLASH && visit(left + 1, right)
    else if (b === 'visible') a !== SLASH && a !== DOT && visit(left + 1, right + 1)
    else if (a === b || a === 'one' || b === 'one') visit(left + 1, right + 1)
  }
  return false
}
