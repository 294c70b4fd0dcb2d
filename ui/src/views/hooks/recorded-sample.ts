import { useQuery } from '@tanstack/react-query'
import { call } from '../../gateway/call.ts'
import { readRequest } from '../event/read-request.ts'
import type { HookDraft } from './hook-schema.ts'

export interface RecordedSample {
  readonly event: string
  readonly tool: string | undefined
  readonly input: unknown
  readonly prompt: string | undefined
}

/** A recorded event as a sample for a hook; undefined while it loads or where none is wanted. */
export function useRecordedSample(eventId: string | undefined): RecordedSample | undefined {
  const { data } = useQuery({
    queryKey: ['event', eventId],
    queryFn: ({ signal }) => call('events.explain', { eventId: eventId ?? '' }, signal),
    enabled: eventId !== undefined,
    staleTime: 60_000,
  })
  if (data === undefined) return undefined
  const { event, request }: { readonly event: { readonly event: string }; readonly request?: unknown } = data
  const { tool, input } = readRequest(event.event, request)
  return {
    event: event.event,
    tool,
    input: tool === undefined ? {} : input,
    prompt: typeof input === 'string' ? input : undefined,
  }
}

/** A hook that blocks calls like the recorded one: the same tool, and of a command its first two words. */
export function hookLike({ event, tool, input }: RecordedSample, draft: HookDraft): HookDraft {
  const { matcher: _, ...rest } = draft
  const pattern = tool === undefined ? undefined : matcherLike(tool, input)
  return { ...rest, event, ...(pattern === undefined ? {} : { matcher: pattern }) }
}

function matcherLike(tool: string, input: unknown): string {
  const command =
    typeof input === 'object' && input !== null && 'command' in input ? input.command : undefined
  const start = typeof command === 'string' ? /^[\w./-]+(?: [\w./-]+)?/.exec(command)?.[0] : undefined
  return start === undefined ? tool : `${tool}(${start}*)`
}
