import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager'
import { BaseChatModel, type BindToolsInput } from '@langchain/core/language_models/chat_models'
import { AIMessage, AIMessageChunk, type BaseMessage } from '@langchain/core/messages'
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs'
import { convertToOpenAITool } from '@langchain/core/utils/function_calling'

/** A chat model over HTTP, as small as one can be: it speaks to the fake server in OpenAI's format. */
export class HttpChatModel extends BaseChatModel {
  readonly model = 'fake'
  readonly #url: string
  readonly #tools: readonly unknown[]

  constructor(url: string, tools: readonly unknown[] = []) {
    super({ maxRetries: 0 })
    this.#url = url
    this.#tools = tools
  }

  override _llmType(): string {
    return 'http'
  }

  override bindTools(tools: BindToolsInput[]) {
    return new HttpChatModel(
      this.#url,
      tools.map((tool) => convertToOpenAITool(tool as never)),
    )
  }

  async #post(messages: readonly BaseMessage[], stream: boolean): Promise<Response> {
    const body = { model: this.model, stream, tools: this.#tools, messages: messages.map(asOpenAi) }
    return fetch(`${this.#url}/chat/completions`, { method: 'POST', body: JSON.stringify(body) })
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const response = await this.#post(messages, false)
    const { content, tool_calls = [] } = JSON.parse(await response.text()).choices[0].message
    const calls = tool_calls.map((call: { id: string; function: { name: string; arguments: string } }) => ({
      id: call.id,
      name: call.function.name,
      args: JSON.parse(call.function.arguments),
    }))
    const message = new AIMessage({ content: content ?? '', tool_calls: calls })
    return { generations: [{ text: message.text, message }] }
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: this['ParsedCallOptions'],
    manager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const text = await (await this.#post(messages, true)).text()
    for (const [, data = ''] of text.matchAll(/^data: (\{.*\})$/gm)) {
      const delta = JSON.parse(data).choices[0]?.delta
      if (delta === undefined) continue
      const chunk = new AIMessageChunk({
        content: delta.content ?? '',
        tool_call_chunks: (delta.tool_calls ?? []).map(
          (call: { id: string; index: number; function: { name: string; arguments: string } }) => ({
            id: call.id,
            index: call.index,
            name: call.function.name,
            args: call.function.arguments,
          }),
        ),
      })
      yield new ChatGenerationChunk({ text: chunk.text, message: chunk })
      await manager?.handleLLMNewToken(chunk.text)
    }
  }
}

const roles: Readonly<Record<string, string>> = { human: 'user', ai: 'assistant' }

function asOpenAi(message: BaseMessage): unknown {
  const role = roles[message.getType()] ?? message.getType()
  const { tool_call_id, tool_calls } = message as BaseMessage & {
    tool_call_id?: string
    tool_calls?: readonly { id: string; name: string; args: unknown }[]
  }
  return { role, content: message.content, tool_call_id, tool_calls }
}
