import type { HookContext } from '../context.ts'

/** An event in the form in which one coding agent gives it to its own hooks. */
export interface ShapedEvent {
  /** What the hook reads from stdin, or as the body of a request. */
  readonly payload: Readonly<Record<string, unknown>>
  /** The variables that the agent sets for its hooks. */
  readonly env: Readonly<Record<string, string>>
  /** Converts tool arguments that the hook changed from the agent's names to ours. */
  readInput(changed: unknown): unknown
}

/** How one coding agent calls its hooks. A hook that was written for that agent works with it unchanged. */
export interface PayloadShape {
  /** `nativeEvent` is the agent's own name of the event, for agents that have several for one event of ours. */
  shape(payload: unknown, context: ShapedContext, nativeEvent: string | undefined): ShapedEvent
  /** The agent runs commands in the folder of the project, and not where it works at the moment. */
  readonly runsInProject?: true
  /** What a block after a tool call means: a note for the model, or text that replaces the output. */
  readonly afterToolBlock: 'context' | 'output'
  /** Whether this exit code blocks if the command printed something. 2 always blocks. */
  readonly blocksOnExit?: (code: number) => boolean
  /** The agent reads a JSON answer whatever the exit code is. */
  readonly readsFailedOutput?: true
  /** The text that holds the answer; stdout by default. */
  readonly answerText?: (output: { readonly stdout: string; readonly stderr: string }) => string
}

export type ShapedContext = Pick<HookContext, 'event' | 'time' | 'envelope'>
