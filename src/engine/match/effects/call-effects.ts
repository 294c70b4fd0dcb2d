import { posix } from 'node:path'
import type { Envelope } from '../../core/context.ts'
import { isRecord } from '../../core/schema/check.ts'
import type {
  AnalyzeShell,
  FileEffect,
  HostEffect,
  ShellContext,
  ShellEffects,
} from '../../core/shell-effects.ts'
import { definedFields } from '../../core/values/defined-fields.ts'
import { readTexts } from '../input-texts.ts'
import { shellLines } from '../tool-arguments.ts'
import { asShellWord, fileToolLines, isFileTool } from './file-tools.ts'
import { hostOf } from './host-pattern.ts'

/** What one tool call does. Each line is analysed once, whatever number of hooks ask. */
export interface CallEffects {
  /** What a shell line of the call does. */
  ofLine(line: string): ShellEffects
  /** What all shell lines of the call do together. */
  shell(): ShellEffects
  /** The same with what a file tool or a web tool does. */
  all(): ShellEffects
}

/** Reads the effects of a call, and remembers them for the next hook. */
export type ReadEffects = (payload: unknown, envelope: Envelope) => CallEffects

/** One reader per dispatch. After a rewrite the payload is another object, which is analysed anew. */
export function createEffectsReader(analyze: AnalyzeShell): ReadEffects {
  let known:
    | { readonly payload: unknown; readonly cwd: string | undefined; readonly effects: CallEffects }
    | undefined
  return (payload, envelope) => {
    const { cwd } = envelope
    if (known !== undefined && known.payload === payload && known.cwd === cwd) return known.effects
    const effects = effectsOfCall(payload, definedFields({ cwd }), analyze)
    known = { payload, cwd, effects }
    return effects
  }
}

const NONE: ShellEffects = {
  commands: [],
  writes: [],
  reads: [],
  deletes: [],
  hosts: [],
  opaque: [],
}

function effectsOfCall(payload: unknown, context: ShellContext, analyze: AnalyzeShell): CallEffects {
  const lines = new Map<string, ShellEffects>()
  let shell: ShellEffects | undefined
  let all: ShellEffects | undefined
  const call: CallEffects = {
    ofLine(line) {
      const known = lines.get(line)
      if (known !== undefined) return known
      const effects = analyze(line, context)
      lines.set(line, effects)
      return effects
    },
    shell() {
      shell ??= effectsOfLines(payload, call.ofLine, (line) =>
        namedFolders(payload, context).map((cwd) => analyze(line, { ...context, cwd })),
      )
      return shell
    },
    all() {
      if (all !== undefined) return all
      const tool = effectsOfTool(payload, call.ofLine)
      all = tool === NONE ? call.shell() : joinEffects([call.shell(), tool])
      return all
    },
  }
  return call
}

function effectsOfLines(
  payload: unknown,
  ofLine: CallEffects['ofLine'],
  elsewhere: (line: string) => readonly ShellEffects[],
): ShellEffects {
  const lines = shellLines(payload)
  if (lines.length === 0) return NONE
  return joinEffects([
    ...lines.map(ofLine),
    ...lines.flatMap(elsewhere),
    ...(isOtherShell(payload) ? [otherShell] : []),
  ])
}

const folderKeys = [
  'workdir',
  'dir_path',
  'directory',
  'working_directory',
  'workingDirectory',
  'cwd',
] as const

/**
 * The folders in which the arguments of a shell tool tell it to run. The line counts in the folder of the call too: the model
 * writes the arguments, and a tool ignores those that it does not know.
 */
function namedFolders(payload: unknown, { cwd }: ShellContext): readonly string[] {
  const named = readTexts(isRecord(payload) ? payload.tool_input : undefined, folderKeys)
  const folders = named.map((folder) => (cwd === undefined ? folder : posix.resolve(cwd, folder)))
  return [...new Set(folders)].filter((folder) => folder !== cwd && posix.isAbsolute(folder))
}

const otherShell: ShellEffects = {
  ...NONE,
  opaque: [{ reason: 'other-shell', detail: 'the tool runs PowerShell', at: 0 }],
}

function joinEffects(all: readonly ShellEffects[]): ShellEffects {
  const [first = NONE, ...others] = all
  if (others.length === 0) return first
  return {
    commands: all.flatMap(({ commands }) => commands),
    writes: all.flatMap(({ writes }) => writes),
    reads: all.flatMap(({ reads }) => reads),
    deletes: all.flatMap(({ deletes }) => deletes),
    hosts: all.flatMap(({ hosts }) => hosts),
    opaque: all.flatMap(({ opaque }) => opaque),
    ...foldersOf(all),
  }
}

function foldersOf(all: readonly ShellEffects[]): Pick<ShellEffects, 'homes' | 'guarded'> {
  const [homes] = all.flatMap((each) => (each.homes ? [each.homes] : []))
  const [guarded] = all.flatMap((each) => (each.guarded ? [each.guarded] : []))
  return definedFields({ homes, guarded })
}

function isOtherShell(payload: unknown): boolean {
  return toolNamesOf(payload).some((name) => /powershell|pwsh|^cmd(\.exe)?$/i.test(name))
}

function toolNamesOf(payload: unknown): readonly string[] {
  if (!isRecord(payload)) return []
  const { tool_name, native_tool_name } = payload
  return [tool_name, ...(Array.isArray(native_tool_name) ? native_tool_name : [native_tool_name])].filter(
    (name) => typeof name === 'string',
  )
}

/**
 * A path is analysed as a line that does the same as the tool, so that folders and symbolic links are resolved in one
 * place. A patch is analysed like the program that applies it.
 */
function effectsOfTool(payload: unknown, ofLine: CallEffects['ofLine']): ShellEffects {
  if (!isRecord(payload) || typeof payload.tool_name !== 'string') return NONE
  const { tool_name: tool, tool_input } = payload
  const hosts = hostsOf(tool, tool_input)
  const patches = readTexts(tool_input, isFileTool(tool) ? ['command', 'patch', 'input', 'patchText'] : [])
    .filter((text) => /^\s*\*\*\* /.test(text))
    .map((patch) => `apply_patch ${asShellWord(patch)}`)
  const lines = [...fileToolLines(tool, tool_input), ...patches]
  if (lines.length + hosts.length === 0) return NONE
  const named = joinEffects(lines.map(ofLine))
  // Some programs of the same name touch no file: `read` and `test` of the shell, `write` to a terminal.
  const effects = touchesFiles(named)
    ? named
    : joinEffects([named, ...fileToolLines(`${tool}_file`, tool_input).map(ofLine)])
  const byTool = (files: readonly FileEffect[]) => files.map((file) => ({ ...file, by: tool }))
  return {
    ...NONE,
    writes: byTool(effects.writes),
    reads: byTool(effects.reads),
    deletes: byTool(effects.deletes),
    hosts,
    ...foldersOf([effects]),
  }
}

function touchesFiles({ writes, reads, deletes }: ShellEffects): boolean {
  return writes.length + reads.length + deletes.length > 0
}

/** The hosts of URLs among the arguments. Some web tools take a text that contains the URLs. */
function hostsOf(tool: string, input: unknown): readonly HostEffect[] {
  const urls = readTexts(input, ['url', 'urls', 'uri'])
  const inPrompt = tool === 'WebFetch' ? readTexts(input, ['prompt']) : []
  const written = inPrompt.flatMap((text) => text.match(/\bhttps?:\/\/[^\s"'<>)]+/gi) ?? [])
  return [...urls, ...written].flatMap((url) => {
    const host = hostOf(url)
    return host === undefined ? [] : [{ host, certainty: 'exact' as const, by: tool, at: 0 }]
  })
}
