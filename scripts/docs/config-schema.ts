import { z } from 'zod'
import { configFileSchema } from '../../src/app/gateway/config-file.ts'
import type { Page } from '../page.ts'

/** What editors check config.yaml of a gateway with. */
export function configSchema(): Page {
  const schema = {
    title: 'Hookhelm gateway',
    ...z.toJSONSchema(configFileSchema, {
      io: 'input',
      override: ({ jsonSchema }) => void delete jsonSchema.readOnly,
    }),
  }
  return { path: 'schema/config.schema.json', text: `${JSON.stringify(schema, undefined, 2)}\n` }
}
