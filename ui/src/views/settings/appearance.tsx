import { SegmentedControl, useMantineColorScheme } from '@mantine/core'
import { Panel } from '../../parts/layout.tsx'
import styles from './settings.module.css'

export function Appearance() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Panel title="Theme" aside="kept in this browser">
      <div className={styles.form}>
        <SegmentedControl
          aria-label="Theme"
          data={[
            { value: 'auto', label: 'As the system' },
            { value: 'light', label: 'Light' },
            { value: 'dark', label: 'Dark' },
          ]}
          value={colorScheme}
          onChange={(scheme) => setColorScheme(scheme === 'light' || scheme === 'dark' ? scheme : 'auto')}
        />
      </div>
    </Panel>
  )
}
