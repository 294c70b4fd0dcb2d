import { Checkbox, Select, TextInput } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { SmallButton } from '../../parts/buttons/quiet-button.ts'
import { ObjectText, TextField } from '../../parts/form/draft-fields.tsx'
import { type Fields, fieldsOf, textsOf, unlessEmpty, withField } from '../../parts/form/fields.ts'
import { IconAction } from '../../parts/form/icon-action.tsx'
import { TwoWay } from '../../parts/form/two-way.tsx'
import { layout } from '../../parts/layout.tsx'
import { MONO } from '../../theme.ts'
import styles from './blueprint-page.module.css'

interface SchemaEditorProps {
  readonly label: string
  readonly value: unknown
  readonly onChange: (schema: Fields | undefined) => void
  readonly isReadOnly: boolean
}

const types = ['string', 'integer', 'number', 'boolean', 'array', 'object']

/** A JSON Schema of an object: its fields as rows, or the whole as JSON. */
export function SchemaEditor({ label, value, onChange, isReadOnly }: SchemaEditorProps) {
  const [isText, setText] = useState(false)
  const schema = fieldsOf(value)
  return (
    <div className={layout.form}>
      <TwoWay
        className={layout.left}
        label={`${label}: fields or JSON`}
        words={['Fields', 'JSON']}
        isSecond={isText}
        onChange={setText}
      />
      {isText ? (
        <ObjectText
          label={`${label} as JSON Schema`}
          value={schema}
          isDisabled={isReadOnly}
          onChange={(given) => onChange(unlessEmpty(given))}
        />
      ) : (
        <SchemaRows value={value} onChange={onChange} isReadOnly={isReadOnly} />
      )}
    </div>
  )
}

/** The fields of the object as rows. They keep what they do not show. */
function SchemaRows({ value, onChange, isReadOnly }: Omit<SchemaEditorProps, 'label'>) {
  const schema = fieldsOf(value)
  const properties = Object.entries(fieldsOf(schema.properties))
  const required = textsOf(schema.required) ?? []
  const save = (fields: readonly (readonly [string, unknown])[], names: readonly string[]) =>
    onChange(withNames({ type: 'object', ...schema, properties: Object.fromEntries(fields) }, names))
  return (
    <>
      {properties.length === 0 ? (
        <p className={styles.empty}>
          {value === undefined ? 'No schema: anything is accepted.' : 'No fields.'}
        </p>
      ) : null}
      {properties.map(([name, field], index) => (
        <PropertyRow
          // biome-ignore lint/suspicious/noArrayIndexKey: a field keeps its row while its name is typed
          key={index}
          name={name}
          schema={fieldsOf(field)}
          isRequired={required.includes(name)}
          isReadOnly={isReadOnly}
          onName={(given) =>
            Object.hasOwn(fieldsOf(schema.properties), given)
              ? undefined
              : save(
                  properties.map(([old, kept]) => [old === name ? given : old, kept]),
                  required.map((old) => (old === name ? given : old)),
                )
          }
          onSchema={(changed) =>
            save(
              properties.map(([old, kept]) => [old, old === name ? changed : kept]),
              required,
            )
          }
          onRequired={(isWanted) =>
            save(properties, isWanted ? [...required, name] : required.filter((old) => old !== name))
          }
          onRemove={() =>
            save(
              properties.filter(([old]) => old !== name),
              required.filter((old) => old !== name),
            )
          }
        />
      ))}
      {isReadOnly ? null : (
        <SmallButton
          className={layout.left ?? ''}
          onClick={() => save([...properties, [freeName(properties), { type: 'string' }]], required)}
        >
          Add a field
        </SmallButton>
      )}
    </>
  )
}

function withNames(schema: Fields, required: readonly string[]): Fields {
  return withField(schema, 'required', required.length === 0 ? undefined : required)
}

function freeName(properties: readonly (readonly [string, unknown])[]): string {
  const names = new Set(properties.map(([name]) => name))
  let number = properties.length + 1
  while (names.has(`field_${number}`)) number++
  return `field_${number}`
}

interface PropertyRowProps {
  readonly name: string
  readonly schema: Fields
  readonly isRequired: boolean
  readonly isReadOnly: boolean
  readonly onName: (name: string) => void
  readonly onSchema: (schema: Fields) => void
  readonly onRequired: (isRequired: boolean) => void
  readonly onRemove: () => void
}

function PropertyRow(props: PropertyRowProps) {
  const { name, schema, isRequired, isReadOnly, onName, onSchema, onRequired, onRemove } = props
  const { type } = schema
  return (
    <div className={styles.property}>
      <TextInput
        aria-label={`Name of ${name}`}
        value={name}
        disabled={isReadOnly}
        styles={MONO}
        onChange={({ currentTarget }) => onName(currentTarget.value)}
      />
      <Select
        aria-label={`Type of ${name}`}
        data={types}
        placeholder={type === undefined ? 'anything' : 'see JSON'}
        value={typeof type === 'string' ? type : null}
        disabled={isReadOnly}
        onChange={(given) => onSchema(withField(schema, 'type', given ?? undefined))}
      />
      <TextField
        draft={{
          value: schema,
          set: (field, given) => onSchema(withField(schema, field, given)),
          isReadOnly,
        }}
        name="description"
        aria-label={`Description of ${name}`}
        placeholder="what it is"
      />
      <Checkbox
        label="required"
        aria-label={`${name} is required`}
        checked={isRequired}
        disabled={isReadOnly}
        onChange={({ currentTarget }) => onRequired(currentTarget.checked)}
      />
      <IconAction icon={IconTrash} label={`Remove ${name}`} isDisabled={isReadOnly} onDo={onRemove} />
    </div>
  )
}
