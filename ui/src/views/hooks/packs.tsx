import { Button, Select } from '@mantine/core'
import { useState } from 'react'
import { useMay } from '../../frame/caller.ts'
import type { Params, Result } from '../../gateway/call.ts'
import { useAction } from '../../gateway/use-action.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { Confirmed } from '../../parts/confirmed.tsx'
import { plural } from '../../parts/format.ts'
import { Failed, Loaded } from '../../parts/layout.tsx'
import styles from './packs.module.css'

type PackSummary = Result<'packs.list'>['packs'][number]

/** How the hooks of a pack are added; the pack decides unless a person chooses. */
const ways = ['as the pack says', 'ask a person', 'block', 'record only'] as const
type Way = (typeof ways)[number]

function paramsFor(way: Way): Omit<Params<'packs.add'>, 'name'> {
  if (way === 'ask a person') return { decision: 'ask' }
  if (way === 'block') return { decision: 'block' }
  return way === 'record only' ? { shadow: true } : {}
}

interface PacksProps {
  /** Only the packs that most people want, without the choice of their answers. */
  readonly isShort?: boolean
}

/** The starter packs, each with a button that adds or removes it. */
export function Packs({ isShort = false }: PacksProps) {
  const query = useMethod('packs.list')
  const [way, setWay] = useState<Way>('as the pack says')
  const mayAdd = useMay('admin')
  return (
    <Loaded query={query} rows={isShort ? 4 : 8}>
      {({ packs }) => (
        <>
          {isShort || !mayAdd ? null : (
            <Select
              className={styles.way ?? ''}
              label="Hooks of a pack that you add"
              data={[...ways]}
              value={way}
              allowDeselect={false}
              onChange={(value) => setWay(ways.find((known) => known === value) ?? 'as the pack says')}
            />
          )}
          <ul className={styles.packs} aria-label="Starter packs">
            {packs
              .filter(({ recommended }) => recommended || !isShort)
              .map((pack) => (
                <PackRow key={pack.name} pack={pack} way={way} canRemove={!isShort} />
              ))}
          </ul>
        </>
      )}
    </Loaded>
  )
}

function PackRow({ pack, way, canRemove }: Readonly<{ pack: PackSummary; way: Way; canRemove: boolean }>) {
  const { name, about, hooks, present, changed } = pack
  const mayAdd = useMay('admin')
  const add = useAction('packs.add')
  const remove = useAction('packs.remove')
  const isComplete = present === hooks
  const state = isComplete ? 'added' : present > 0 ? `${present} of ${hooks} added` : plural(hooks, 'hook')
  return (
    <li className={styles.pack} data-pack={name}>
      <div>
        <b>{name}</b>{' '}
        <span className={styles.faint}>{changed > 0 ? `${state}, ${changed} changed` : state}</span>
        <br />
        {about}
      </div>
      <span className={styles.actions}>
        {mayAdd && !isComplete ? (
          <Button
            variant="default"
            size="compact-xs"
            loading={add.isPending}
            onClick={() => add.mutate({ name, ...paramsFor(way) })}
            aria-label={`Add ${name}`}
          >
            Add
          </Button>
        ) : null}
        {mayAdd && canRemove && present > 0 ? (
          <Confirmed
            word="Remove"
            sure={`Remove ${plural(present, 'hook')} of ${name}`}
            onDo={() => remove.mutate({ name })}
          />
        ) : null}
      </span>
      <Failed error={add.error ?? remove.error} />
    </li>
  )
}
