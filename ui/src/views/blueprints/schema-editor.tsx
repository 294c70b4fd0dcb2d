import { ActionIcon, Button, Checkbox, SegmentedControl, Select, TextInput } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { type Fields, fieldsOf, ObjectText, textsOf, withField } from '../runs/parameter-form.tsx'
import styles from './blueprint-page.module.css'

interface SchemaEditorProps {
  readonly label: string
  readonly value: unknown
  readonly onChange: (schema: Fields | undefined) => void
  readonly isReadOnly: boolean
}

const types = ['string', 'integer', 'number', 'boolean', 'array', 'object']

/** A JSON Schema of an object: its fields as rows, or the whole as JSON. The rows keep what they do not show. */
export function SchemaEditor({ label, value, onChange, isReadOnly }: SchemaEditorProps) {
  const [isText, setText] = useState(false)
  const schema = fieldsOf(value)
  const properties = Object.entries(fieldsOf(schema.properties))
  const required = textsOf(schema.required) ?? []
  const save = (fields: readonly (readonly [string, unknown])[], names: readonly string[]) =>
    onChange(withNames({ type: 'object', ...schema, properties: Object.fromEntries(fields) }, names))
  return (
    <div className={styles.form}>
      <SegmentedControl
        size="xs"
        className={styles.left ?? ''}
        aria-label={`${label}: fields or JSON`}
        data={['Fields', 'JSON']}
        value={isText ? 'JSON' : 'Fields'}
        onChange={(chosen) => setText(chosen === 'JSON')}
      />
      {isText ? (
        <ObjectText
          label={`${label} as JSON Schema`}
          value={schema}
          isDisabled={isReadOnly}
          onChange={(given) => onChange(Object.keys(given).length === 0 ? undefined : given)}
        />
      ) : (
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
            <Button
              variant="default"
              size="compact-sm"
              className={styles.left ?? ''}
              onClick={() => save([...properties, [freeName(properties), { type: 'string' }]], required)}
            >
              Add a field
            </Button>
          )}
        </>
      )}
    </div>
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
  const { type, description } = schema
  return (
    <div className={styles.property}>
      <TextInput
        aria-label={`Name of ${name}`}
        value={name}
        disabled={isReadOnly}
        styles={{ input: { fontFamily: 'var(--mono)', fontSize: '12.5px' } }}
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
      <TextInput
        aria-label={`Description of ${name}`}
        placeholder="what it is"
        value={typeof description === 'string' ? description : ''}
        disabled={isReadOnly}
        onChange={({ currentTarget }) =>
          onSchema(
            withField(schema, 'description', currentTarget.value === '' ? undefined : currentTarget.value),
          )
        }
      />
      <Checkbox
        label="required"
        aria-label={`${name} is required`}
        checked={isRequired}
        disabled={isReadOnly}
        onChange={({ currentTarget }) => onRequired(currentTarget.checked)}
      />
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={`Remove ${name}`}
        disabled={isReadOnly}
        onClick={onRemove}
      >
        <IconTrash size={15} />
      </ActionIcon>
    </div>
  )
}
