/** What to start. Nothing is inherited: the child gets exactly this directory, environment and input. */
export interface ProcessSpec {
  /** The program and its arguments, without a shell. */
  readonly argv: readonly string[]
  readonly cwd?: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin?: string | Buffer
  /** Per stream. A child that writes more is killed. */
  readonly maxOutputBytes?: number
}

export interface ProcessResult {
  /** Nothing when a signal ended the process. */
  readonly exitCode: number | undefined
  readonly signal: string | undefined
  readonly stdout: string
  readonly stderr: string
  /** As written, before bytes that are no UTF-8 were replaced. */
  readonly stdoutBytes: number
  readonly stderrBytes: number
  readonly durationMs: number
  /** Killed for writing too much; only the beginning of its output was kept. */
  readonly truncated: boolean
}

/** The argv of a shell line. By its path: no search, and no other `sh` earlier in PATH. */
export function shell(command: string): readonly string[] {
  return ['/bin/sh', '-c', command]
}

/** A spec with everything filled in, as it goes to whoever starts the child. */
export interface Order {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin: Buffer
  readonly maxOutputBytes: number
}

/** How a child ended, before anybody reads its output. */
export interface End {
  readonly exitCode: number | undefined
  readonly signal: string | undefined
  readonly stdout: Buffer
  readonly stderr: Buffer
  readonly stdoutBytes: number
  readonly stderrBytes: number
  readonly truncated: boolean
  /** Set when nothing was started: what the system said. */
  readonly refused?: string
}

/** A child under way. */
export interface Started {
  /** Settles when the child is gone. Rejects only if whoever started it is gone too. */
  readonly ended: Promise<End>
  /** Asks the whole group to end, and half a second later no longer asks. */
  stop(): void
}
