import {
  Autocomplete,
  type AutocompleteProps,
  NumberInput,
  type NumberInputProps,
  Switch,
  type SwitchProps,
  TagsInput,
  type TagsInputProps,
  Textarea,
  type TextareaProps,
  TextInput,
  type TextInputProps,
} from '@mantine/core'
import { useState } from 'react'
import { MONO } from '../../theme.ts'
import { printJson } from '../json.tsx'
import { type Fields, readFields, textOf } from './fields.ts'

/** An object that a person edits field by field. */
export interface Draft {
  readonly value: Fields
  /** Sets a field; undefined removes it. */
  readonly set: (name: string, value: unknown) => void
  readonly isReadOnly?: boolean
  /** What the gateway objects to in a field. */
  readonly problemOf?: (name: string) => string | undefined
}

/** An input of one field of a draft. */
type FieldProps<InputProps> = Omit<InputProps, 'value' | 'onChange' | 'error'> & {
  readonly draft: Draft
  readonly name: string
}

function shared({ isReadOnly = false, problemOf }: Draft, name: string, disabled = false) {
  return { disabled: isReadOnly || disabled, error: problemOf?.(name) }
}

/** A text. An empty one removes the field unless it is required. */
export function TextField({ draft, name, disabled, ...props }: FieldProps<TextInputProps>) {
  return (
    <TextInput
      {...props}
      {...shared(draft, name, disabled)}
      value={textOf(draft.value[name])}
      onChange={({ currentTarget: { value } }) =>
        draft.set(name, value === '' && props.required !== true ? undefined : value)
      }
    />
  )
}

/** A text of several lines. An empty one removes the field. */
export function LongTextField({ draft, name, disabled, ...props }: FieldProps<TextareaProps>) {
  return (
    <Textarea
      autosize
      {...props}
      {...shared(draft, name, disabled)}
      value={textOf(draft.value[name])}
      onChange={({ currentTarget }) => draft.set(name, currentTarget.value || undefined)}
    />
  )
}

/** A text with suggestions. */
export function SuggestedField({ draft, name, disabled, ...props }: FieldProps<AutocompleteProps>) {
  return (
    <Autocomplete
      {...props}
      {...shared(draft, name, disabled)}
      value={textOf(draft.value[name])}
      onChange={(given) => draft.set(name, given === '' && props.required !== true ? undefined : given)}
    />
  )
}

/** A whole number. */
export function NumberField({ draft, name, disabled, ...props }: FieldProps<NumberInputProps>) {
  const value = draft.value[name]
  return (
    <NumberInput
      allowDecimal={false}
      {...props}
      {...shared(draft, name, disabled)}
      value={typeof value === 'number' ? value : ''}
      onChange={(given) => draft.set(name, given === '' ? undefined : Number(given))}
    />
  )
}

/** A list of texts. An empty one removes the field. */
export function TextsField({ draft, name, disabled, ...props }: FieldProps<TagsInputProps>) {
  const texts = [draft.value[name] ?? []].flat().map(String)
  return (
    <TagsInput
      {...props}
      {...shared(draft, name, disabled)}
      placeholder={texts.length === 0 ? props.placeholder : ''}
      value={texts}
      onChange={(given) => draft.set(name, given.length === 0 ? undefined : given)}
    />
  )
}

/** A field that has one value or is absent. */
export function SwitchField({
  draft,
  name,
  on,
  disabled,
  ...props
}: FieldProps<SwitchProps> & { readonly on: unknown }) {
  return (
    <Switch
      {...props}
      disabled={draft.isReadOnly === true || disabled === true}
      checked={draft.value[name] === on}
      onChange={({ currentTarget }) => draft.set(name, currentTarget.checked ? on : undefined)}
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
  readonly problem?: string | undefined
}

/** An object as JSON. What cannot be read yet stays in the field and changes nothing. */
export function ObjectText(props: ObjectTextProps) {
  const { label, description, value, onChange, isDisabled = false, rows = 8, problem } = props
  const [typed, setTyped] = useState(() => printJson(value))
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
      error={readFields(typed).problem ?? problem}
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value)
        const read = readFields(currentTarget.value)
        if (read.value !== undefined) onChange(read.value)
      }}
    />
  )
}
