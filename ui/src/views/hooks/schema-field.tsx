import { JsonInput, NumberInput, Select, Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import type { FieldSchema } from './hook-schema.ts'

interface SchemaFieldProps {
  readonly name: string
  readonly schema: FieldSchema
  readonly value: unknown
  readonly onChange: (value: unknown) => void
  readonly isRequired?: boolean
  readonly isDisabled?: boolean
  /** What the gateway objects to. */
  readonly problem?: string | undefined
}

/** Texts with more than one line. */
const LONG = new Set(['source', 'prompt', 'prompt_template', 'description'])
const MONO = { input: { fontFamily: 'var(--mono)', fontSize: '12.5px' } }

/** One field of a form, drawn from its schema. */
export function SchemaField(props: SchemaFieldProps) {
  const { name, schema, value, onChange, isRequired = false, isDisabled = false, problem } = props
  const shared = {
    label: titleOf(name),
    description: describe(schema),
    required: isRequired,
    disabled: isDisabled,
    error: problem,
  }
  if (schema.enum !== undefined)
    return (
      <Select
        {...shared}
        data={[...schema.enum]}
        value={typeof value === 'string' ? value : null}
        onChange={(chosen) => onChange(chosen ?? undefined)}
        clearable={!isRequired}
      />
    )
  if (schema.type === 'boolean')
    return (
      <Switch
        {...shared}
        checked={value === true}
        onChange={({ currentTarget }) => onChange(currentTarget.checked ? true : undefined)}
      />
    )
  if (schema.type === 'integer' || schema.type === 'number')
    return (
      <NumberInput
        {...shared}
        value={typeof value === 'number' ? value : ''}
        {...(schema.minimum === undefined ? {} : { min: schema.minimum })}
        {...(schema.maximum === undefined ? {} : { max: schema.maximum })}
        allowDecimal={schema.type === 'number'}
        onChange={(given) => onChange(given === '' ? undefined : Number(given))}
      />
    )
  if (schema.type === 'array')
    return (
      <TagsInput
        {...shared}
        value={Array.isArray(value) ? value.map(String) : []}
        onChange={(given) => onChange(given.length === 0 ? undefined : given)}
      />
    )
  if (schema.type === 'string' || schema.anyOf?.some(({ type }) => type === 'string'))
    return <TextField {...props} />
  return (
    <JsonInput
      {...shared}
      autosize
      minRows={2}
      styles={MONO}
      value={
        value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)
      }
      onChange={(text) => onChange(readJson(text))}
    />
  )
}

function TextField({ name, schema, value, onChange, isRequired, isDisabled, problem }: SchemaFieldProps) {
  const shared = {
    label: titleOf(name),
    description: describe(schema),
    required: isRequired ?? false,
    disabled: isDisabled ?? false,
    error: problem,
    styles: MONO,
    spellCheck: false,
    value: typeof value === 'string' ? value : '',
    ...(schema.maxLength === undefined ? {} : { maxLength: schema.maxLength }),
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      onChange(currentTarget.value === '' ? undefined : currentTarget.value),
  }
  return LONG.has(name) ? (
    <Textarea {...shared} autosize minRows={name === 'source' ? 6 : 2} />
  ) : (
    <TextInput {...shared} />
  )
}

/** The schema's own words; what stands between backticks is code. */
function describe({ description }: FieldSchema): ReactNode {
  return description
    ?.split('`')
    .map((part, index) => (index % 2 === 0 ? part : <code key={part}>{part}</code>))
}

/** Text that is not yet JSON stays text, so that nothing typed is lost; the gateway names the problem. */
function readJson(text: string): unknown {
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const titles: Readonly<Record<string, string>> = {
  matcher: 'Applies to',
  if_expr: 'Only if',
  timeout_ms: 'Timeout in ms',
  on_timeout: 'If it times out',
  on_error: 'If it fails',
  on_invalid: 'If its answer cannot be read',
  exec: 'Program and arguments',
  url: 'Address',
  source: 'Script',
}

function titleOf(name: string): string {
  const words = titles[name] ?? name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
