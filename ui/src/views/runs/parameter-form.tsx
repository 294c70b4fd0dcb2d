import {
  JsonInput,
  NumberInput,
  SegmentedControl,
  Select,
  TagsInput,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useState } from 'react'
import { parseExactJson } from '../../gateway/exact-json.ts'
import { plural } from '../../parts/format.ts'
import styles from './parameter-form.module.css'

export type Fields = Readonly<Record<string, unknown>>

interface ParameterFormProps {
  /** The JSON Schema of the agent; anything. */
  readonly schema: unknown
  readonly value: Fields
  readonly onChange: (value: Fields) => void
  /** What the gateway objects to, by the path of the field (`/report_id`). */
  readonly problems?: ReadonlyMap<string, string>
}

const MONO = { input: { fontFamily: 'var(--mono)', fontSize: '12.5px' } }
const LONG = 120

/** The parameters of a run: a form drawn from the agent's schema, or JSON. Changing between them loses nothing. */
export function ParameterForm({ schema, value, onChange, problems = new Map() }: ParameterFormProps) {
  const properties = Object.entries(fieldsOf(fieldsOf(schema).properties))
  const [isText, setText] = useState(properties.length === 0)
  const required = fieldsOf(schema).required
  const others = Object.keys(value).filter((name) => !properties.some(([known]) => known === name))
  return (
    <div className={styles.form}>
      {properties.length === 0 ? null : (
        <SegmentedControl
          size="xs"
          className={styles.switch ?? ''}
          aria-label="Form or JSON"
          data={['Form', 'JSON']}
          value={isText ? 'JSON' : 'Form'}
          onChange={(chosen) => setText(chosen === 'JSON')}
        />
      )}
      {isText ? (
        <ObjectText label="Parameters" value={value} onChange={onChange} />
      ) : (
        <>
          {properties.map(([name, field]) => (
            <ParameterField
              key={name}
              name={name}
              schema={fieldsOf(field)}
              value={value[name]}
              isRequired={Array.isArray(required) && required.includes(name)}
              problem={problems.get(`/${name}`)}
              onChange={(given) => onChange(withField(value, name, given))}
            />
          ))}
          {others.length === 0 ? null : (
            <p className={styles.note}>
              {plural(others.length, 'further field')} ({others.join(', ').slice(0, 200)}): see JSON.
            </p>
          )}
        </>
      )}
    </div>
  )
}

interface ParameterFieldProps {
  readonly name: string
  readonly schema: Fields
  readonly value: unknown
  readonly isRequired: boolean
  readonly problem: string | undefined
  readonly onChange: (value: unknown) => void
}

/** One field. A value that the field could not show as it is appears as JSON. */
function ParameterField({ name, schema, value, isRequired, problem, onChange }: ParameterFieldProps) {
  const { title, description, type, items } = schema
  const shared = {
    label: typeof title === 'string' ? title : name,
    description: typeof description === 'string' ? description : undefined,
    required: isRequired,
    error: problem,
  }
  const isUnset = value === undefined
  const texts = textsOf(schema.enum)
  if (texts !== undefined && (isUnset || texts.some((text) => text === value)))
    return (
      <Select
        {...shared}
        data={[...texts]}
        value={isUnset ? null : String(value)}
        onChange={(chosen) => onChange(chosen ?? undefined)}
        clearable={!isRequired}
      />
    )
  if (type === 'boolean' && (isUnset || typeof value === 'boolean'))
    return (
      <Select
        {...shared}
        data={['true', 'false']}
        placeholder="not set"
        value={isUnset ? null : String(value)}
        onChange={(chosen) => onChange(chosen === null ? undefined : chosen === 'true')}
        clearable
      />
    )
  if ((type === 'integer' || type === 'number') && (isUnset || typeof value === 'number'))
    return (
      <NumberInput
        {...shared}
        value={isUnset ? '' : Number(value)}
        allowDecimal={type === 'number'}
        onChange={(given) => onChange(given === '' ? undefined : Number(given))}
      />
    )
  if (type === 'array' && fieldsOf(items).type === 'string' && (isUnset || textsOf(value) !== undefined))
    return (
      <TagsInput
        {...shared}
        value={[...(textsOf(value) ?? [])]}
        onChange={(given) => onChange(given.length === 0 && !isRequired ? undefined : given)}
      />
    )
  if (type === 'string' && (isUnset || typeof value === 'string')) {
    const text = isUnset ? '' : String(value)
    const change = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      onChange(currentTarget.value === '' && !isRequired ? undefined : currentTarget.value)
    return text.length > LONG || text.includes('\n') ? (
      <Textarea {...shared} autosize minRows={2} maxRows={12} value={text} onChange={change} />
    ) : (
      <TextInput {...shared} value={text} onChange={change} />
    )
  }
  return <ValueText {...shared} value={value} onChange={onChange} />
}

interface ValueTextProps {
  readonly label: string
  readonly description?: string | undefined
  readonly required?: boolean
  readonly error?: string | undefined
  readonly value: unknown
  readonly onChange: (value: unknown) => void
}

/** A value as JSON. Text that is not JSON yet stays in the field and changes nothing. */
function ValueText({ value, onChange, error, ...shared }: ValueTextProps) {
  const [typed, setTyped] = useState(() => (value === undefined ? '' : JSON.stringify(value, undefined, 2)))
  const read = readJson(typed)
  return (
    <JsonInput
      {...shared}
      autosize
      minRows={2}
      styles={MONO}
      error={read.problem ?? error}
      value={typed}
      onChange={(text) => {
        setTyped(text)
        const next = readJson(text)
        if (next.problem === undefined) onChange(next.value)
      }}
    />
  )
}

interface ObjectTextProps {
  readonly label: string
  readonly description?: string
  readonly value: Fields
  readonly onChange: (value: Fields) => void
  readonly isDisabled?: boolean
  readonly rows?: number
}

/** An object as JSON. What cannot be read yet stays in the field and changes nothing. */
export function ObjectText({
  label,
  description,
  value,
  onChange,
  isDisabled = false,
  rows = 8,
}: ObjectTextProps) {
  const [typed, setTyped] = useState(() => JSON.stringify(value, undefined, 2))
  const problem = problemOf(readJson(typed))
  return (
    <Textarea
      label={label}
      description={description}
      autosize
      minRows={rows}
      maxRows={40}
      spellCheck={false}
      disabled={isDisabled}
      styles={MONO}
      error={problem}
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value)
        const read = readJson(currentTarget.value)
        if (problemOf(read) === undefined) onChange(fieldsOf(read.value))
      }}
    />
  )
}

interface ReadText {
  readonly value?: unknown
  readonly problem?: string
}

function problemOf({ value, problem }: ReadText): string | undefined {
  if (problem !== undefined) return problem
  return isFields(value) ? undefined : 'must be an object: { … }'
}

function readJson(text: string): ReadText {
  if (text.trim() === '') return { value: undefined }
  try {
    return { value: parseExactJson(text) }
  } catch (error) {
    return { problem: `not JSON yet: ${error instanceof Error ? error.message : String(error)}` }
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value if it is an object; otherwise an empty one. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {}
}

/** The list if all entries are texts. */
export function textsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string') ? value : undefined
}

/** The object with the field set, or without it. The order of fields stays. */
export function withField(value: Fields, name: string, given: unknown): Fields {
  if (given !== undefined) return { ...value, [name]: given }
  const { [name]: _, ...rest } = value
  return rest
}

/** The defaults that a schema names, for a form that starts empty. */
export function defaultsOf(schema: unknown): Fields {
  const properties = Object.entries(fieldsOf(fieldsOf(schema).properties))
  return Object.fromEntries(
    properties.flatMap(([name, field]) => {
      const { default: value } = fieldsOf(field)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}
