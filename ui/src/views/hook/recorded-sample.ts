import { useMethod } from '../../gateway/use-method.ts'
import { fieldsOf, textOf, withField } from '../../parts/form/fields.ts'
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
  const wanted = { enabled: eventId !== undefined, staleTime: 60_000 }
  const { data } = useMethod('events.explain', { eventId: eventId ?? '' }, wanted)
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
  const matcher = tool === undefined ? undefined : matcherLike(tool, input)
  return { ...withField(draft, 'matcher', matcher), event }
}

function matcherLike(tool: string, input: unknown): string {
  const start = /^[\w./-]+(?: [\w./-]+)?/.exec(textOf(fieldsOf(input).command))?.[0]
  return start === undefined ? tool : `${tool}(${start}*)`
}
