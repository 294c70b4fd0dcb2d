import { NumberInput, Select, Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { CodeEditor } from '../../parts/form/code-editor.tsx'
import { readJson, textOf } from '../../parts/form/fields.ts'
import { printJson } from '../../parts/json.tsx'
import { MONO } from '../../theme.ts'
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
        data={schema.enum}
        placeholder={defaultOf(schema)}
        value={typeof value === 'string' ? value : null}
        onChange={(chosen) => onChange(chosen ?? undefined)}
        clearable={!isRequired}
        allowDeselect={false}
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
  if (schema.type === 'array' && schema.items?.type === 'string')
    return (
      <TagsInput
        {...shared}
        styles={MONO}
        value={Array.isArray(value) ? value.map(String) : []}
        onChange={(given) => onChange(given.length === 0 ? undefined : given)}
      />
    )
  if (schema.type === 'string' || schema.anyOf?.some(({ type }) => type === 'string'))
    return <SchemaText {...props} />
  return <JsonField {...props} />
}

/** The choice that the description marks as the default. */
function defaultOf({ enum: choices = [], description = '' }: FieldSchema): string | undefined {
  return choices.find((choice) => new RegExp(`\\b${choice}\`? \\((?:the )?default\\)`).test(description))
}

/** Texts with more than one line. */
const languages: Readonly<Record<string, 'javascript' | 'text'>> = {
  source: 'javascript',
  prompt: 'text',
  prompt_template: 'text',
}

function SchemaText({ name, schema, value, onChange, isRequired, isDisabled, problem }: SchemaFieldProps) {
  const language = languages[name]
  const label = titleOf(name)
  const description = describe(schema)
  const text = textOf(value)
  const change = (typed: string) => onChange(typed === '' ? undefined : typed)
  if (language !== undefined)
    return (
      <CodeEditor
        label={label}
        description={description}
        isRequired={isRequired ?? false}
        isReadOnly={isDisabled ?? false}
        problem={problem}
        language={language}
        minLines={name === 'source' ? 6 : 4}
        value={text}
        onChange={change}
      />
    )
  const shared = {
    label,
    description,
    required: isRequired ?? false,
    disabled: isDisabled ?? false,
    error: problem,
    value: text,
    ...(schema.maxLength === undefined ? {} : { maxLength: schema.maxLength }),
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => change(currentTarget.value),
  }
  return name === 'description' ? (
    <Textarea {...shared} autosize minRows={2} />
  ) : (
    <TextInput {...shared} styles={MONO} spellCheck={false} />
  )
}

/** A value with fields or of any type. The text stays as it is typed; only its meaning is passed on. */
function JsonField({ name, schema, value, onChange, isRequired, isDisabled, problem }: SchemaFieldProps) {
  const [typed, setTyped] = useState('')
  const isCurrent = JSON.stringify(readTyped(typed)) === JSON.stringify(value)
  return (
    <CodeEditor
      label={titleOf(name)}
      description={describe(schema)}
      isRequired={isRequired ?? false}
      isReadOnly={isDisabled ?? false}
      problem={problem ?? (typeof value === 'string' ? 'This is not JSON' : undefined)}
      language="json"
      minLines={2}
      value={isCurrent ? typed : typeof value === 'string' ? value : printJson(value)}
      onChange={(text) => {
        setTyped(text)
        onChange(readTyped(text))
      }}
    />
  )
}

/** The schema's own words; what stands between backticks is code. */
function describe({ description }: FieldSchema): ReactNode {
  return description
    ?.split('`')
    .map((part, index) => (index % 2 === 0 ? part : <code key={part}>{part}</code>))
}

/** Text that is not yet JSON stays text, so that nothing typed is lost; the gateway names the problem. */
function readTyped(text: string): unknown {
  const { value, problem } = readJson(text)
  return problem === undefined ? value : text.trim() === '' ? undefined : text
}

const titles: Readonly<Record<string, string>> = {
  matcher: 'Applies to',
  if_expr: 'Only if',
  timeout_ms: 'Timeout in ms',
  on_timeout: 'If it times out',
  on_error: 'If it fails',
  on_invalid: 'If its answer cannot be read',
  exec: 'Program and arguments',
  cwd: 'Working directory',
  allowed_env_vars: 'Environment variables',
  url: 'Address',
  source: 'Script',
  prompt_template: 'Instruction',
  max_invocations_per_turn: 'Runs per turn',
  payload: 'Written for',
}

function titleOf(name: string): string {
  const words = titles[name] ?? name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
