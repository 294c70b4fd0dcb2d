/** A process to start. It inherits nothing: it gets exactly this directory, environment and input. */
export interface ProcessSpec {
  /** The program and its arguments, without a shell. */
  readonly argv: readonly string[]
  readonly cwd?: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin?: string | Buffer
  /** The limit per stream. A child that writes more is killed. */
  readonly maxOutputBytes?: number
}

/** How a process ended: by itself, or by a signal. */
export interface ProcessExit {
  readonly exitCode: number | undefined
  readonly signal: NodeJS.Signals | undefined
}

export interface ProcessResult extends Omit<ChildEnd, 'stdout' | 'stderr' | 'refused'> {
  readonly stdout: string
  readonly stderr: string
  readonly durationMs: number
}

/** The argv of a shell command. An absolute path, so that PATH cannot select another `sh`. */
export function shellArgv(command: string): readonly string[] {
  return ['/bin/sh', '-c', command]
}

/** A spec with all defaults filled in. */
export interface StartOrder extends Required<ProcessSpec> {
  readonly stdin: Buffer
}

/** How a child ended, with its raw output. */
export interface ChildEnd extends ProcessExit {
  readonly stdout: Buffer
  readonly stderr: Buffer
  /** The raw size, before invalid UTF-8 was replaced. */
  readonly stdoutBytes: number
  readonly stderrBytes: number
  /** The child was killed for writing too much; only the start of its output is kept. */
  readonly truncated: boolean
  /** Why the child could not be started. */
  readonly refused?: string
}

/** A running child. */
export interface StartedChild {
  /** Settles when the child has ended. Rejects only if the helper has ended too. */
  readonly ended: Promise<ChildEnd>
  /** Sends SIGTERM to the whole group, and SIGKILL half a second later. */
  stop(): void
}
