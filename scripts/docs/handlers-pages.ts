import type { ObjectSchema, Schema } from '../../src/engine/core/schema/schema.ts'
import type { HandlerType } from '../../src/handlers/handler-type.ts'
import { markdownTable, type Page, readIfThere } from '../page.ts'
import { publishedHandlerTypes } from './hooks-schema.ts'

const TEXTS = 'scripts/docs/handlers'

/** One page per handler type and an overview: the fields from the schema, the rest from `scripts/docs/handlers/`. */
export function handlerPages(): readonly Page[] {
  const answers = readIfThere(`${TEXTS}/answers.md`) ?? ''
  const pages = publishedHandlerTypes.map(({ type, about, schema }) => {
    // A handler without a text of its own still gets its sentence and its fields.
    const text = readIfThere(`${TEXTS}/${type}.md`) ?? '{{fields}}\n'
    const body = fillIn(text, { fields: fieldTable(schema), answers: answers.trim() })
    return { path: `docs/handlers/${type}.md`, text: `# Handler \`${type}\`\n\n${about}\n\n${body}` }
  })
  const overview = fillIn(readIfThere(`${TEXTS}/README.md`) ?? '', { handlers: handlerTable() })
  return [{ path: 'docs/handlers/README.md', text: overview }, ...pages]
}

function fillIn(text: string, parts: Readonly<Record<string, string>>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const part = parts[name]
    if (part === undefined) throw new Error(`a handler page names the unknown part ${name}`)
    return part
  })
}

function handlerTable(): string {
  return markdownTable({
    head: ['`handler_type`', 'what it does', 'required in `config`'],
    rows: publishedHandlerTypes.map(({ type, about, schema }: HandlerType) => [
      `[\`${type}\`](${type}.md)`,
      about,
      requiredFields(schema)
        .map((name) => `\`${name}\``)
        .join(', ') || 'see its page',
    ]),
  })
}

function fieldTable(schema: Schema): string {
  if (schema.kind !== 'object') throw new Error('the config of a handler must be an object')
  return markdownTable({
    head: ['field of `config`', 'type', 'limits', 'meaning'],
    rows: Object.entries(schema.fields).map(([name, field]) => [
      `\`${name}\``,
      typeText(field),
      [...(schema.required.includes(name) ? ['required'] : []), ...limits(field)].join(', '),
      field.about ?? '',
    ]),
  })
}

function requiredFields(schema: Schema | ObjectSchema): readonly string[] {
  return schema.kind === 'object' ? schema.required : []
}

function typeText(schema: Schema): string {
  switch (schema.kind) {
    case 'any':
      return 'any'
    case 'text':
      return schema.isUrl ? 'URL' : 'text'
    case 'integer':
      return 'whole number'
    case 'number':
      return 'number'
    case 'boolean':
      return '`true` or `false`'
    case 'scalar':
      return 'text, number, `true`, `false` or `null`'
    case 'choice':
      return schema.values.map((value) => `\`${value}\``).join(', ')
    case 'list':
      return `list of ${typeText(schema.item)}`
    case 'map':
      return `object of ${typeText(schema.value)}`
    case 'object':
      return 'object'
    case 'nullable':
      return `${typeText(schema.value)} or \`null\``
    case 'tagged':
      return 'object'
    case 'union':
      return schema.options.map(typeText).join(' or ')
  }
}

function limits(schema: Schema): readonly string[] {
  if (schema.kind === 'integer') return [`${schema.min} to ${schema.max}`]
  if (schema.kind === 'list') return schema.minItems ? [`at least ${schema.minItems}`] : []
  if (schema.kind !== 'text') return []
  return [
    ...(schema.minLength ? [`at least ${schema.minLength} characters`] : []),
    ...(schema.maxLength === undefined ? [] : [`at most ${schema.maxLength} characters`]),
  ]
}
