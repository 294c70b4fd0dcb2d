import { Modal } from '@mantine/core'
import { navigation } from '../navigation.ts'
import styles from './keyboard-help.module.css'

const keys: readonly (readonly [keys: readonly string[], does: string])[] = [
  [['⌘ K'], 'search and commands'],
  [['?'], 'this help'],
  [['j', 'k'], 'next and previous row'],
  [['enter'], 'open the row'],
  [['f'], 'follow the session of the row'],
  [['esc'], 'close the event beside the list'],
  [['/'], 'go to the filter'],
  [['n', 'p'], 'next and previous step of an input'],
  ...navigation.map(({ key, title }) => [['g', key], title] as const),
]

export function KeyboardHelp({ onClose }: Readonly<{ onClose: () => void }>) {
  return (
    <Modal opened onClose={onClose} title="Keys">
      <dl className={styles.keys}>
        {keys.map(([pressed, does]) => (
          <div key={does}>
            <dt>
              {pressed.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  )
}
