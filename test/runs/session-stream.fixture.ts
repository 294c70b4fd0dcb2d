import type { Running } from '../gateway/running.fixture.ts'

/** One event of `GET /sse/sessions`. */
export interface StreamedEvent {
  readonly id: string
  readonly name: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever the event carries, for tests to look into
  readonly data: any
}

interface StreamOptions {
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Called when the gateway has begun to answer. */
  readonly onOpen?: () => void
}

/** Reads the stream of sessions until there is enough, and then disconnects. Without data, an event only moves the position. */
export async function readStream(
  { url, token }: Pick<Running, 'url' | 'token'>,
  isEnough: (events: readonly StreamedEvent[]) => boolean,
  { query = '', headers = {}, onOpen }: StreamOptions = {},
): Promise<readonly StreamedEvent[]> {
  const leave = new AbortController()
  const response = await fetch(`${url}/sse/sessions${query}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal: leave.signal,
  })
  const events: StreamedEvent[] = []
  let text = ''
  try {
    for await (const chunk of response.body ?? []) {
      onOpen?.()
      text += Buffer.from(chunk).toString()
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const fields = new Map(block.split('\n').map((line) => fieldOf(line)))
        const data = fields.get('data')
        if (data === undefined) continue
        const [id = '', name = ''] = [fields.get('id'), fields.get('event')]
        events.push({ id, name, data: JSON.parse(data) })
        if (isEnough(events)) return events
      }
    }
    throw new Error(`the stream ended: ${response.status} ${text}`)
  } finally {
    leave.abort()
  }
}

function fieldOf(line: string): readonly [string, string] {
  const colon = line.indexOf(': ')
  return [line.slice(0, colon), line.slice(colon + 2)]
}
