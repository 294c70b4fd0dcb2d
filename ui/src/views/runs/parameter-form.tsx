import { JsonInput, NumberInput, Select, TagsInput, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ObjectText } from '../../parts/form/draft-fields.tsx'
import { type Fields, fieldsOf, readJson, textsOf, withField } from '../../parts/form/fields.ts'
import { TwoWay } from '../../parts/form/two-way.tsx'
import { plural } from '../../parts/format.ts'
import { layout } from '../../parts/layout.tsx'
import { MONO } from '../../theme.ts'
import styles from './parameter-form.module.css'

interface ParameterFormProps {
  /** The JSON Schema of the agent; anything. */
  readonly schema: unknown
  readonly value: Fields
  readonly onChange: (value: Fields) => void
  /** What the gateway objects to, by the path of the field (`/report_id`). */
  readonly problems?: ReadonlyMap<string, string>
}

const LONG = 120

/** The parameters of a run: a form drawn from the agent's schema, or JSON. Changing between them loses nothing. */
export function ParameterForm({ schema, value, onChange, problems = new Map() }: ParameterFormProps) {
  const properties = Object.entries(fieldsOf(fieldsOf(schema).properties))
  const [isText, setText] = useState(properties.length === 0)
  const required = fieldsOf(schema).required
  const others = Object.keys(value).filter((name) => !properties.some(([known]) => known === name))
  return (
    <div className={layout.fields}>
      {properties.length === 0 ? null : (
        <TwoWay
          className={layout.left}
          label="Form or JSON"
          words={['Form', 'JSON']}
          isSecond={isText}
          onChange={setText}
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
  const read = (text: string) => (text.trim() === '' ? { value: undefined } : readJson(text))
  return (
    <JsonInput
      {...shared}
      autosize
      minRows={2}
      styles={MONO}
      error={read(typed).problem ?? error}
      value={typed}
      onChange={(text) => {
        setTyped(text)
        const next = read(text)
        if (next.problem === undefined) onChange(next.value)
      }}
    />
  )
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
