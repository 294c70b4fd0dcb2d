export interface FakeUsage {
  readonly input: number
  readonly output: number
}

export interface FakeCall {
  readonly tool: string
  readonly input?: unknown
  /** Arguments exactly as given, broken JSON included. */
  readonly rawInput?: string
}

/** What the model says to one request. An answer without text and calls is an empty one. */
export interface FakeAnswer {
  readonly text?: string
  readonly calls?: readonly FakeCall[]
  /** The provider fails instead: 429, 500, 529. */
  readonly status?: number
  /** The provider sends this instead of what its format asks for. */
  readonly body?: string
  /** Takes the request and never answers. */
  readonly hang?: true
  readonly afterMs?: number
  /** 100 in and 20 out unless given; nothing when the server does not count. */
  readonly usage?: FakeUsage | 'missing'
}

const usualUsage: FakeUsage = { input: 100, output: 20 }

export function usageOf({ usage = usualUsage }: FakeAnswer): FakeUsage | undefined {
  return usage === 'missing' ? undefined : usage
}

/** Arguments as text, for formats that carry them so. */
export function argumentsText({ input = {}, rawInput }: FakeCall): string {
  return rawInput ?? JSON.stringify(input)
}

/** Arguments as a value; a format without text for them carries a broken one as a string. */
export function argumentsValue({ input = {}, rawInput }: FakeCall): unknown {
  return rawInput ?? input
}
