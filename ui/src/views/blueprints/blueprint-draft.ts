import { type Fields, updateTo } from '../../parts/form/fields.ts'

/** The name in the address of a blueprint that is not saved yet. No agent can have it. */
export const NEW_BLUEPRINT = '_new'

/** A small agent that runs as it is. */
export const newBlueprint: Fields = {
  name: 'my-agent',
  type: 'procedural',
  description: '',
  executor: { command: ['node', 'my-agent.mjs'] },
  parameters_schema: {
    type: 'object',
    properties: { report_id: { type: 'string', description: 'Which report' } },
    required: ['report_id'],
  },
}

/** What an update sends: the whole draft, and null for every field that it no longer has. */
export function replacementOf(stored: Fields, draft: Fields): Fields {
  // `hooks: null` would keep the stored hooks.
  return { ...updateTo(draft, stored), hooks: draft.hooks ?? {} }
}
