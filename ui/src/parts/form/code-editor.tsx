import { Input } from '@mantine/core'
import { lazy, type ReactNode, Suspense, useId } from 'react'
import styles from './code-editor.module.css'
import type { CodeLanguage } from './code-mirror.tsx'

const CodeMirror = lazy(async () => ({ default: (await import('./code-mirror.tsx')).CodeMirror }))

interface CodeEditorProps {
  /** Shown above the editor, and the name by which assistive technology knows it. */
  readonly label: string
  readonly isLabelHidden?: boolean
  readonly description?: ReactNode
  readonly isRequired?: boolean
  readonly problem?: string | undefined
  readonly language: CodeLanguage
  readonly value: string
  readonly onChange: (text: string) => void
  readonly isReadOnly?: boolean
  /** The editor is at least this high, and grows with its text. */
  readonly minLines?: number
}

/** A field for code or long text. The editor itself loads when the first one is shown. */
export function CodeEditor(props: CodeEditorProps) {
  const { label, isLabelHidden = false, description, isRequired = false, problem } = props
  const { language, value, onChange, isReadOnly = false, minLines = 4 } = props
  const id = useId()
  return (
    <Input.Wrapper
      label={isLabelHidden ? undefined : label}
      labelElement="div"
      description={description}
      required={isRequired}
      error={problem}
      errorProps={{ id: `${id}-error` }}
    >
      <div className={styles.field} data-invalid={problem === undefined ? undefined : true}>
        <Suspense fallback={<EditorLoading minLines={minLines} />}>
          <CodeMirror
            label={label}
            language={language}
            value={value}
            onChange={onChange}
            isReadOnly={isReadOnly}
            minLines={minLines}
            problemId={problem === undefined ? undefined : `${id}-error`}
          />
        </Suspense>
        <span className={styles.hint} aria-hidden>
          <kbd>Esc</kbd> <kbd>Tab</kbd> leaves the editor
        </span>
      </div>
    </Input.Wrapper>
  )
}

/** As high as the editor, so that nothing jumps. */
function EditorLoading({ minLines }: Readonly<{ minLines: number }>) {
  return (
    <div role="status" aria-busy="true" aria-label="loading" className={styles.loading}>
      {'\n'.repeat(minLines)}
    </div>
  )
}
