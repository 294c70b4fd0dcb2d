import { useState } from 'react'
import { CodeEditor } from './code-editor.tsx'
import type { Fields, ReadText } from './fields.ts'

interface DraftTextProps {
  readonly label: string
  readonly language: 'json' | 'yaml'
  readonly value: Fields
  readonly print: (value: Fields) => string
  readonly read: (text: string) => ReadText<Fields>
  readonly onChange: (value: Fields) => void
  readonly isReadOnly: boolean
  /** What the gateway objects to. */
  readonly problem?: string | undefined
}

/** A draft as text. What cannot be read yet stays in the field and changes nothing. */
export function DraftText({ value, print, read, onChange, problem, ...shown }: DraftTextProps) {
  const [text, setText] = useState(() => print(value))
  return (
    <CodeEditor
      {...shown}
      isLabelHidden
      minLines={18}
      value={text}
      problem={read(text).problem ?? problem}
      onChange={(typed) => {
        setText(typed)
        const { value: given } = read(typed)
        if (given !== undefined) onChange(given)
      }}
    />
  )
}
