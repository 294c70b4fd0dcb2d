import { configFileSchema } from '../../src/app/gateway/storage/config-file.ts'
import { toJsonSchema } from '../../src/hook-files/schema/json-schema.ts'
import type { Page } from '../page.ts'

/** What editors check config.yaml of a gateway with. */
export function configSchema(): Page {
  const json = {
    title: 'Hookhelm gateway',
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...toJsonSchema(configFileSchema),
  }
  return { path: 'schema/config.schema.json', text: `${JSON.stringify(json, undefined, 2)}\n` }
}
