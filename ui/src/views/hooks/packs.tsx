import { Select } from '@mantine/core'
import { useState } from 'react'
import { useMay } from '../../frame/caller.ts'
import { PackList, type PackParams } from './pack-list.tsx'
import styles from './packs.module.css'

/** How the hooks of a pack are added; the pack decides unless a person chooses. */
const ways: Readonly<Record<string, PackParams>> = {
  'as the pack says': {},
  'ask a person': { decision: 'ask' },
  block: { decision: 'block' },
  'record only': { shadow: true },
}

/** Every starter pack, with the choice of what its hooks answer. */
export function Packs() {
  const [way, setWay] = useState('as the pack says')
  const mayAdd = useMay('admin')
  return (
    <PackList params={ways[way] ?? {}}>
      {mayAdd ? (
        <Select
          className={styles.way ?? ''}
          label="Hooks of a pack that you add"
          data={Object.keys(ways)}
          value={way}
          allowDeselect={false}
          onChange={(chosen) => setWay(chosen ?? way)}
        />
      ) : null}
    </PackList>
  )
}
