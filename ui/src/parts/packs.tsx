import { Button, Select } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Methods } from '../../../src/client/index.ts'
import { useMay } from '../frame/caller.ts'
import { call } from '../gateway/call.ts'
import { Confirmed } from './confirmed.tsx'
import { plural } from './format.ts'
import { Failed, Loaded } from './layout.tsx'
import styles from './packs.module.css'

type PackSummary = Methods['packs.list']['result']['packs'][number]

/** How the hooks of a pack are added; the pack decides unless a person chooses. */
const ways = ['as the pack says', 'ask a person', 'block', 'record only'] as const
type Way = (typeof ways)[number]

function paramsFor(way: Way): Omit<Methods['packs.add']['params'], 'name'> {
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
  const query = useQuery({
    queryKey: ['hooks', 'packs'],
    queryFn: ({ signal }) => call('packs.list', {}, signal),
  })
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

interface PackRowProps {
  readonly pack: PackSummary
  readonly way: Way
  readonly canRemove: boolean
}

function PackRow({ pack, way, canRemove }: PackRowProps) {
  const { name, about, hooks, present, changed } = pack
  const queries = useQueryClient()
  const mayAdd = useMay('admin')
  const settled = { onSettled: () => queries.invalidateQueries({ queryKey: ['hooks'] }) }
  const add = useMutation({
    ...settled,
    mutationFn: () => call('packs.add', { name, ...paramsFor(way) }),
  })
  const remove = useMutation({ ...settled, mutationFn: () => call('packs.remove', { name }) })
  const failure = add.error ?? remove.error
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
            onClick={() => add.mutate()}
            aria-label={`Add ${name}`}
          >
            Add
          </Button>
        ) : null}
        {mayAdd && canRemove && present > 0 ? (
          <Confirmed
            word="Remove"
            sure={`Remove ${plural(present, 'hook')} of ${name}`}
            onDo={() => remove.mutate()}
          />
        ) : null}
      </span>
      {failure === null ? null : <Failed error={failure} />}
    </li>
  )
}
