import { isRecord } from '../../engine/core/schema/check.ts'
import { findPack } from '../../hook-files/packs/pack.ts'
import type { Builtin } from './seed-builtins.ts'

/** The script of the pack: one text for the builtin and for those who add the pack. */
function packSource(): string {
  const config = findPack('pii-redactor').hooks[0]?.config
  return isRecord(config) && typeof config.source === 'string' ? config.source : ''
}

export const piiRedactor: Builtin = {
  name: 'pii-redactor',
  version: 2,
  events: ['user_prompt_submit', 'pre_tool_use'],
  isOnByDefault: false,
  hook: {
    handler_type: 'script',
    description: 'Removes e-mail addresses and phone numbers from prompts and tool calls.',
    priority: 900,
    timeout_ms: 2_000,
    on_timeout: 'allow',
  },
  source: packSource(),
}
