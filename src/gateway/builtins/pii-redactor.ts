import type { Builtin } from './seed-builtins.ts'

/** Runs in the script sandbox. Its replacements match none of its patterns, so it can run twice. */
const source = `var EMAIL = /[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\\.){1,8}[A-Za-z]{2,63}/g
var PHONE = /\\+\\d{1,3}(?:[ .-]?\\(?\\d{2,4}\\)?){2,4}\\b|\\(?\\b\\d{3}\\)?[ .-]\\d{3}[ .-]\\d{4}\\b/g
var FIELDS = ['command', 'query', 'content']

function redact(text) {
  return text.replace(EMAIL, '[REDACTED_EMAIL]').replace(PHONE, '[REDACTED_PHONE]')
}

function handle(event) {
  if (event.hookEvent === 'user_prompt_submit') {
    var prompt = redact(event.rawInput)
    return prompt === event.rawInput ? { decision: 'allow' } : { decision: 'allow', updatedInput: prompt }
  }
  var input = {}, isChanged = false
  Object.keys(event.toolInput).forEach(function (key) {
    var value = event.toolInput[key]
    input[key] = FIELDS.indexOf(key) >= 0 && typeof value === 'string' ? redact(value) : value
    isChanged = isChanged || input[key] !== value
  })
  return isChanged ? { decision: 'allow', updatedInput: input } : { decision: 'allow' }
}
`

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
  source,
}
