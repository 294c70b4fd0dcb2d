import { readFileSync } from 'node:fs'
import type { ObjectSchema, Schema } from '../../src/engine/core/schema/schema.ts'
import { hookSchema } from '../../src/engine/hook-definition.ts'
import { markdownTable, type Page, replaceGenerated } from '../page.ts'

const PATH = 'docs/hook-files.md'

/** The page about hook files, with the table of fields written from the declaration of a hook. */
export function hookFilesPage(): Page {
  const { version: _, ...fields } = hookSchema.fields
  const table = markdownTable({
    head: ['field', 'value', 'description'],
    rows: fieldRows({ fields, required: hookSchema.required }),
  })
  return replaceGenerated({ path: PATH, text: readFileSync(PATH, 'utf8') }, 'hook-fields', table)
}

type Row = readonly [field: string, value: string, description: string]

function fieldRows({ fields, required }: Pick<ObjectSchema, 'fields' | 'required'>, prefix = ''): Row[] {
  return Object.entries(fields).flatMap(([name, field]): Row[] => [
    [
      `\`${prefix}${name}\``,
      `${valueText(field)}${required.includes(name) ? '; required' : ''}`,
      field.about ?? '',
    ],
    ...(field.kind === 'object' ? fieldRows(field, `${prefix}${name}.`) : []),
  ])
}

function valueText(field: Schema): string {
  switch (field.kind) {
    case 'any':
      return 'any'
    case 'text':
      return field.maxLength === undefined ? 'text' : `text, at most ${field.maxLength} characters`
    case 'integer':
      return rangeText(field.min, field.max)
    case 'number':
      return 'number'
    case 'boolean':
      return '`true` or `false`'
    case 'scalar':
      return 'text, number, `true`, `false` or `null`'
    case 'choice': {
      const aliases = Object.entries(field.aliases ?? {}).map(
        ([alias, value]) => `\`${alias}\` = \`${value}\``,
      )
      const values = field.values.map((value) => `\`${value}\``).join(', ')
      return aliases.length === 0 ? values : `${values} (${aliases.join(', ')})`
    }
    case 'list':
      return `list of ${valueText(field.item)}`
    case 'map':
      return `object: each value ${valueText(field.value)}`
    case 'object':
      return 'object'
    case 'nullable':
      return `${valueText(field.value)} or \`null\``
    case 'tagged':
      return 'object'
    case 'union':
      return field.options.map(valueText).join(', or ')
  }
}

function rangeText(min: number, max: number): string {
  const digits = (value: number) => value.toLocaleString('en-US').replaceAll(',', ' ')
  return max === Number.MAX_SAFE_INTEGER ? `${digits(min)} or more` : `${digits(min)} … ${digits(max)}`
}
