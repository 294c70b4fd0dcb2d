import type {
  FileEffect,
  HostEffect,
  OpaqueMark,
  OpaqueReason,
  ShellCommand,
  ShellEffects,
} from '../../engine/core/shell-effects.ts'

/** The line needs more work than the analyser spends on one. */
export class ShellBudgetExceeded extends Error {}

export type FileEffectKind = 'writes' | 'reads' | 'deletes'

export type EffectRecorder = ReturnType<typeof createEffectRecorder>

const MAX_STEPS = 4_000
const MAX_CODE = 150_000
const MAX_COMMANDS = 1_000
const MAX_MARKS = 100

/** Collects effects, each once. */
export function createEffectRecorder() {
  const commands: ShellCommand[] = []
  const files: Record<FileEffectKind, FileEffect[]> = { writes: [], reads: [], deletes: [] }
  const hosts: HostEffect[] = []
  const opaque: OpaqueMark[] = []
  const seen = new Set<string>()
  let steps = 0
  let code = 0
  const isNew = (key: string): boolean => seen.size !== seen.add(key).size
  const countStep = (): void => {
    if (++steps > MAX_STEPS) throw new ShellBudgetExceeded(`the line needs more than ${MAX_STEPS} steps`)
  }
  return {
    addCommand(command: ShellCommand): void {
      if (!isNew(commandKey(command))) return
      if (commands.length >= MAX_COMMANDS)
        throw new ShellBudgetExceeded(`the line runs more than ${MAX_COMMANDS} commands`)
      commands.push(command)
    },
    addFile(kind: FileEffectKind, effect: FileEffect): void {
      countStep()
      if (isNew(`${kind} ${effect.at} ${effect.by} ${effect.certainty} ${effect.path}`))
        files[kind].push(effect)
    },
    addHost(effect: HostEffect): void {
      if (isNew(`host ${effect.at} ${effect.by} ${effect.host}`)) hosts.push(effect)
    },
    addOpaque(reason: OpaqueReason, detail: string, at: number): void {
      if (opaque.length < MAX_MARKS && isNew(`opaque ${reason} ${at} ${detail}`))
        opaque.push({ reason, detail, at })
    },
    /** Counts a step of the analysis. Throws if there were too many. */
    countStep,
    /** Counts the characters of code that the line runs. Throws if there were too many. */
    countCode(length: number): void {
      code += length
      if (code > MAX_CODE)
        throw new ShellBudgetExceeded(`the line runs more than ${MAX_CODE} characters of code`)
    },
    effects: (): ShellEffects => ({ commands, ...files, hosts, opaque }),
  }
}

function commandKey({ program, path, args, via, cwd, at }: ShellCommand): string {
  let key = `${at} ${path ?? program} ${cwd}`
  for (const step of via) key += `\u0001${step}`
  for (const { text, certainty } of args) key += `\u0000${certainty}${text}`
  return key
}
