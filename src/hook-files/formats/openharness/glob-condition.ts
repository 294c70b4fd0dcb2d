import type { HookOptions } from '../../../engine/hook-definition.ts'
import { compileGlob } from '../../../engine/match/glob.ts'
import { canonicalEvent } from '../import-format.ts'

interface Condition {
  readonly fields: Pick<HookOptions, 'match' | 'if_expr' | 'enabled'>
  readonly notes: readonly string[]
}

const toolEvents = [
  'pre_tool_use',
  'post_tool_use',
  'post_tool_use_failure',
  'permission_request',
  'permission_denied',
]

/**
 * OpenHarness matches a glob against the tool name, else the prompt, else the name of the event; our globs look at the
 * name that each event has. Where the two differ the glob becomes a condition, or is settled here and now.
 */
export function globCondition(event: string, glob: string): Condition {
  if (glob === '' || glob === '*') return { fields: {}, notes: [] }
  const name = canonicalEvent(event)
  if (toolEvents.includes(name)) return { fields: { match: { glob } }, notes: [] }
  if (name === 'user_prompt_submit') return onPayload('prompt', glob)
  if (name === 'notification') return onPayload('tool_name', glob)
  if (compileGlob(glob, { at: 'matcher', classes: true })(name)) return { fields: {}, notes: [] }
  return {
    fields: { enabled: false },
    notes: [
      `the matcher ${glob} is compared with the name ${name} and never fits, so the hook is switched off`,
    ],
  }
}

function onPayload(key: 'prompt' | 'tool_name', glob: string): Condition {
  const pattern = JSON.stringify(`^${globToRegex(glob)}$`)
  return { fields: { if_expr: `has(payload.${key}) && payload.${key}.matches(${pattern})` }, notes: [] }
}

/** fnmatch → RE2: `*`, `?` and classes; everything else stands for itself. */
function globToRegex(glob: string): string {
  const parts = glob.match(/\*|\?|\[!?\]?[^\]]*\]|[\s\S]/g) ?? []
  const body = parts.map((part) => {
    if (part === '*') return '.*'
    if (part === '?') return '.'
    if (part.length > 1) return part.replace(/^\[!/, '[^').replaceAll('\\', '\\\\')
    return part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  })
  return `(?s:${body.join('')})`
}
