// Every fake on one port: a scenario names the tools of the client that it drives.
import { anthropic } from './anthropic.mjs'
import { gemini } from './gemini.mjs'
import { serve } from './lib.mjs'
import { openai } from './openai.mjs'

/** Plays `steps`; `seen` is told of every request before it is answered, and may be waited for. */
export function startFake(steps, seen) {
  return serve({ port: 0, host: '127.0.0.1', steps, seen }, [gemini, openai, anthropic])
}
