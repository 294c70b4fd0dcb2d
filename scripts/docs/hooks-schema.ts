import { hookFileJsonSchema } from '../../src/config/schema/json-schema.ts'
import type { Page } from '../page.ts'

/** The published JSON Schema of a hook file. */
export function hooksSchema(): Page {
  return { path: 'schema/hooks.schema.json', text: `${JSON.stringify(hookFileJsonSchema(), undefined, 2)}\n` }
}
