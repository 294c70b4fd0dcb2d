import type { ReactNode } from 'react'
import { useMay } from '../../frame/caller.ts'
import type { Params, Result } from '../../gateway/call.ts'
import { useAction } from '../../gateway/use-action.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { Confirmed } from '../../parts/buttons/confirmed.tsx'
import { TinyButton } from '../../parts/buttons/quiet-button.ts'
import { plural } from '../../parts/format.ts'
import { Failed, Loaded } from '../../parts/layout.tsx'
import styles from './packs.module.css'

type PackSummary = Result<'packs.list'>['packs'][number]
/** How the hooks of a pack are added. */
export type PackParams = Omit<Params<'packs.add'>, 'name'>

interface PackListProps {
  /** Only the packs that most people want, to be added as they are. */
  readonly isShort?: boolean
  readonly params?: PackParams
  readonly children?: ReactNode
}

/** The starter packs, each with a button that adds or removes it. */
export function PackList({ isShort = false, params = {}, children }: PackListProps) {
  const query = useMethod('packs.list')
  return (
    <Loaded query={query} rows={isShort ? 4 : 8}>
      {({ packs }) => (
        <>
          {children}
          <ul className={styles.packs} aria-label="Starter packs">
            {packs
              .filter(({ recommended }) => recommended || !isShort)
              .map((pack) => (
                <PackRow key={pack.name} pack={pack} params={params} canRemove={!isShort} />
              ))}
          </ul>
        </>
      )}
    </Loaded>
  )
}

function PackRow({
  pack,
  params,
  canRemove,
}: Readonly<{ pack: PackSummary; params: PackParams; canRemove: boolean }>) {
  const { name, about, hooks, present, changed } = pack
  const mayAdd = useMay('admin')
  const add = useAction('packs.add')
  const remove = useAction('packs.remove')
  const isComplete = present === hooks
  const state = isComplete ? 'added' : present > 0 ? `${present} of ${hooks} added` : plural(hooks, 'hook')
  return (
    <li className={`${styles.pack} lined`} data-pack={name}>
      <div>
        <b>{name}</b>{' '}
        <span className="faint small">{changed > 0 ? `${state}, ${changed} changed` : state}</span>
        <br />
        {about}
      </div>
      <span className={styles.actions}>
        {mayAdd && !isComplete ? (
          <TinyButton
            loading={add.isPending}
            onClick={() => add.mutate({ name, ...params })}
            aria-label={`Add ${name}`}
          >
            Add
          </TinyButton>
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
