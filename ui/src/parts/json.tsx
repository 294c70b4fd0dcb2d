import { showControls } from './format.ts'
import styles from './json.module.css'
import { diffLines } from './line-diff.ts'

/** More than this is cut: a page with megabytes of text cannot be read or scrolled. */
const MAX_CHARS = 40_000

export function printJson(value: unknown): string {
  return value === undefined ? '' : (JSON.stringify(value, undefined, 2) ?? '')
}

/** A value as indented JSON. */
export function Json({ value }: { readonly value: unknown }) {
  return <Text text={printJson(value)} />
}

export function Text({ text }: { readonly text: string }) {
  const left = text.length - MAX_CHARS
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <pre className={styles.text} tabIndex={0}>
      {showControls(text.slice(0, MAX_CHARS))}
      {left > 0 ? <span className={styles.cut}>{`\n… ${left} more characters`}</span> : null}
    </pre>
  )
}

interface DiffProps {
  readonly before: unknown
  readonly after: unknown
}

/** Two values side by side; the lines that differ are marked. */
export function Diff({ before, after }: DiffProps) {
  const { left, right } = diffLines(
    printJson(before).slice(0, MAX_CHARS).split('\n'),
    printJson(after).slice(0, MAX_CHARS).split('\n'),
  )
  return (
    <div className={styles.diff}>
      <Side lines={left} mark={styles.removed ?? ''} sign="−" />
      <Side lines={right} mark={styles.added ?? ''} sign="+" />
    </div>
  )
}

interface SideProps {
  readonly lines: readonly { readonly text: string; readonly differs: boolean }[]
  readonly mark: string
  readonly sign: string
}

function Side({ lines, mark, sign }: SideProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <pre className={styles.text} tabIndex={0}>
      {lines.map(({ text, differs }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity of their own
        <div key={index} className={differs ? mark : undefined}>
          <span className={styles.sign} aria-hidden>
            {differs ? sign : ' '}
          </span>
          {showControls(text)}
        </div>
      ))}
    </pre>
  )
}
