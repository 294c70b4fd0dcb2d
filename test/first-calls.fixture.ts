import { Session } from 'node:inspector/promises'
import { definedFields } from '../src/engine/core/values/defined-fields.ts'

/** The conditions of the breakpoints call it by this name. */
const NOTE = 'noteFileOfWalk'

/**
 * The files in the order in which `walk` first runs a line of each. Every line of them has a breakpoint whose
 * condition notes the file and is never true: nothing stops, and nothing in the product knows.
 */
export async function firstCalls(
  files: readonly string[],
  walk: () => Promise<unknown>,
): Promise<readonly string[]> {
  const session = new Session()
  session.connect()
  const scripts = new Map<string, string>()
  session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => {
    const file = files.find((each) => url.endsWith(`/${each}`))
    if (file !== undefined) scripts.set(scriptId, file)
  })
  try {
    await session.post('Debugger.enable')
    for (const [scriptId, file] of scripts) {
      const condition = `globalThis.${NOTE}(${JSON.stringify(file)})`
      const start = { scriptId, lineNumber: 0, columnNumber: 0 }
      const { locations } = await session.post('Debugger.getPossibleBreakpoints', { start })
      const firstOfLine = locations.filter(
        ({ lineNumber }, at) => lineNumber !== locations[at - 1]?.lineNumber,
      )
      for (const { lineNumber, columnNumber } of firstOfLine) {
        const location = { scriptId, lineNumber, ...definedFields({ columnNumber }) }
        await session.post('Debugger.setBreakpoint', { location, condition })
      }
    }
    const called = new Set<string>()
    Object.assign(globalThis, { [NOTE]: (file: string) => void called.add(file) })
    await walk()
    return [...called]
  } finally {
    await session.post('Debugger.disable')
    session.disconnect()
    Reflect.deleteProperty(globalThis, NOTE)
  }
}
