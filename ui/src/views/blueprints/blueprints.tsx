import { IconFishHook } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../frame/caller.ts'
import type { Result } from '../../gateway/call.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { SmallButton } from '../../parts/buttons/quiet-button.ts'
import { fieldsOf } from '../../parts/form/fields.ts'
import { plural } from '../../parts/format.ts'
import { Empty, Loaded, layout, Panel, Tag } from '../../parts/layout.tsx'
import { Age } from '../../parts/values.tsx'
import { StartRun } from '../runs/start-run.tsx'
import { NEW_BLUEPRINT } from './blueprint-draft.ts'
import styles from './blueprints.module.css'
import { NamedHooks } from './named-hooks.tsx'

export type StoredBlueprint = Result<'blueprints.list'>['blueprints'][number]

/** The agents that can be started. */
export function Blueprints() {
  const maySave = useMay('admin')
  const mayStart = useMay('operator')
  const [starting, setStarting] = useState<string>()
  const query = useMethod('blueprints.list', {}, { refetchInterval: 5_000 })
  return (
    <div className={layout.stack}>
      <Panel title="Blueprints" aside={maySave ? <NewLink /> : undefined}>
        <Loaded query={query} rows={5}>
          {({ blueprints }) => (
            <>
              {blueprints.map((blueprint) => (
                <div
                  key={blueprint.name}
                  className={`${layout.row} ${styles.row}`}
                  data-blueprint={blueprint.name}
                >
                  <BlueprintText blueprint={blueprint} />
                  {mayStart ? (
                    <SmallButton
                      aria-label={`Start ${blueprint.name}`}
                      onClick={() => setStarting(blueprint.name)}
                    >
                      Start
                    </SmallButton>
                  ) : null}
                </div>
              ))}
              {blueprints.some(({ source }) => source !== 'builtin') ? null : (
                <Empty title="No agent of your own yet" action={maySave ? <NewLink /> : undefined}>
                  A blueprint says how an agent is executed, what it takes and returns, and which hooks stand
                  around its runs. From a file: <code>hookhelm blueprints save agent.json</code>
                </Empty>
              )}
            </>
          )}
        </Loaded>
      </Panel>
      <NamedHooks blueprints={query.data?.blueprints ?? []} />
      {starting === undefined ? null : <StartRun agent={starting} onClose={() => setStarting(undefined)} />}
    </div>
  )
}

function NewLink() {
  return (
    <Link to="/agents/$name" params={{ name: NEW_BLUEPRINT }}>
      New blueprint
    </Link>
  )
}

function BlueprintText({ blueprint }: Readonly<{ blueprint: StoredBlueprint }>) {
  const { name, definition, source, version, updated_at } = blueprint
  const hooks = Object.values(fieldsOf(definition.hooks)).flat().filter(Boolean).length
  return (
    <Link to="/agents/$name" params={{ name }} className={styles.link ?? ''}>
      <span className={styles.name}>
        <b>{name}</b>
        <Tag>{String(definition.type)}</Tag>
        {hooks === 0 ? null : (
          <Tag>
            <IconFishHook size={12} aria-hidden /> {plural(hooks, 'hook')}
          </Tag>
        )}
        {source === 'file' ? <Tag>file</Tag> : null}
        {source === 'builtin' ? <Tag>built-in</Tag> : null}
      </span>
      <span className="muted small cut">
        {typeof definition.description === 'string' ? `${definition.description} · ` : ''}
        {source === 'builtin' ? (
          'comes with the product'
        ) : (
          <>
            version {version} · <Age at={updated_at} />
          </>
        )}
      </span>
    </Link>
  )
}
