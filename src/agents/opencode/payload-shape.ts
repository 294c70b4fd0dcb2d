import { isRecord } from '../../engine/core/schema/check.ts'
import { outputText } from '../translate/process-reply.ts'
import { definePayloadShape, patchIn, type ShapeSource, type ShapeView } from '../translate/shaped-event.ts'
import { lookUp } from '../translate/tool-names.ts'
import { opencodeAdapter } from './adapter.ts'

/** What a hook of an OpenCode plugin receives: its two arguments, `input` and `output`. */
export const opencodePayloadShape = definePayloadShape({
  adapter: opencodeAdapter,
  usual: { post_tool_use_failure: 'tool.execute.after' },
  convert: patchIn('patchText'),
  afterToolBlock: 'output',
  build: (source, nativeEvent) => ({
    ...source.raw,
    directory: source.raw.directory ?? source.cwd,
    ...(lookUp(views, nativeEvent) ?? busEvent(nativeEvent))(source),
  }),
})

const session = ({ envelope }: ShapeSource) => ({ sessionID: envelope.session ?? '' })
const call = (source: ShapeSource) => ({
  tool: source.tool.name,
  ...session(source),
  callID: source.envelope.toolCall ?? '',
})

const busEvent =
  (type: string): ShapeView =>
  (source) => ({ event: { type, properties: { ...source.payload, ...session(source) } } })

const views: Readonly<Record<string, ShapeView>> = {
  'tool.execute.before': (source) => ({ input: call(source), output: { args: source.tool.input } }),
  'tool.execute.after': (source) => {
    const { tool_response: response, error } = source.payload
    const isOwn = isRecord(response) && 'output' in response
    const text = response === undefined || response === null ? String(error ?? '') : outputText(response)
    return {
      input: { ...call(source), args: source.tool.input },
      output: isOwn ? response : { title: source.tool.name, output: text, metadata: {} },
    }
  },
  'chat.message': (source) => ({
    input: session(source),
    output: {
      message: { id: source.envelope.turn ?? '', role: 'user', ...session(source) },
      parts: [{ type: 'text', text: source.payload.prompt ?? '' }],
    },
  }),
}
