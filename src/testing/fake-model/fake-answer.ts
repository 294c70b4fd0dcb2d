/** The token counts that the fake model reports. */
export interface FakeUsage {
  readonly input: number
  readonly output: number
}

/** A tool call that the fake model makes. */
export interface FakeCall {
  readonly tool: string
  readonly input?: unknown
  /** The arguments as raw text, which may be invalid JSON. */
  readonly rawInput?: string
}

/** The fake model's answer to one request. Without `text` and `calls` it is empty. */
export interface FakeAnswer {
  readonly text?: string
  readonly calls?: readonly FakeCall[]
  /** Fail with this HTTP status instead: 429, 500, 529. */
  readonly status?: number
  /** Send this body instead of one in the wire format. */
  readonly body?: string
  /** Read the request and never answer. */
  readonly hang?: true
  /** Answer after this delay. */
  readonly afterMs?: number
  /** 100 input and 20 output tokens by default; `missing` reports no usage. */
  readonly usage?: FakeUsage | 'missing'
}

const defaultUsage: FakeUsage = { input: 100, output: 20 }

export function usageOf({ usage = defaultUsage }: FakeAnswer): FakeUsage | undefined {
  return usage === 'missing' ? undefined : usage
}

/** The arguments as text, for formats that carry JSON in a string. */
export function argumentsText({ input = {}, rawInput }: FakeCall): string {
  return rawInput ?? JSON.stringify(input)
}

/** The arguments as a value. Raw text becomes a string. */
export function argumentsValue({ input = {}, rawInput }: FakeCall): unknown {
  return rawInput ?? input
}
