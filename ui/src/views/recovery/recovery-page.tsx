import { Switch } from '@mantine/core'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useMay } from '../../frame/caller.ts'
import { useAction } from '../../gateway/use-action.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { ButtonLink } from '../../parts/buttons/button-link.tsx'
import { Empty, Failed, LoadedList, layout, Page, Panel } from '../../parts/layout.tsx'
import { PageTabs } from '../../parts/page-tabs.tsx'
import { NEW_RULE } from '../rules/rule-draft.ts'
import { RuleList } from '../rules/rule-list.tsx'
import { SimulateTab } from '../rules/simulate-tab.tsx'
import { Environments } from './environments.tsx'
import { FiringRow } from './firing-list.tsx'
import styles from './recovery.module.css'
import { Teams } from './teams.tsx'

const route = getRouteApi('/recovery')

const commands: Readonly<Record<string, string>> = {
  rules: 'hookhelm rules list',
  firings: 'hookhelm rules history',
  simulate: 'hookhelm rules simulate',
  teams: 'hookhelm mailbox list',
  environments: 'hookhelm environments list',
}

/** What happens when something does not end well: rules, what they did, and what they need. */
export function RecoveryPage() {
  const { tab = 'rules', from, team, message } = route.useSearch()
  const navigate = useNavigate()
  const maySave = useMay('admin')
  return (
    <Page
      title="Recovery"
      purpose="Rules that answer a failure: they start a fallback agent, notify a team, start runners."
      command={commands[tab] ?? 'hookhelm rules list'}
      actions={
        maySave ? (
          <ButtonLink to="/recovery/rules/$ruleId" params={{ ruleId: NEW_RULE }}>
            New rule
          </ButtonLink>
        ) : null
      }
    >
      <MainSwitch />
      <PageTabs
        className={styles.tabs}
        chosen={tab}
        onChoose={(name) => void navigate({ to: '/recovery', search: { tab: name } })}
        tabs={[
          { name: 'rules', title: 'Rules', content: <RuleList /> },
          { name: 'firings', title: 'Firings', content: <Firings /> },
          { name: 'simulate', title: 'Simulate', content: <SimulateTab from={from} /> },
          {
            name: 'teams',
            title: 'Teams and mailboxes',
            content: <Teams team={team} messageId={message} />,
          },
          { name: 'environments', title: 'Environments', content: <Environments />, isHidden: !maySave },
        ]}
      />
    </Page>
  )
}

/** Rules are off until a person switches them on. */
function MainSwitch() {
  const mayChange = useMay('admin')
  const query = useMethod('rules.list')
  const change = useAction('settings.set')
  if (query.data === undefined) return <div className={styles.main} />
  const { enabled } = query.data
  const wanted = change.variables?.settings.rules_enabled
  const isOverruled = wanted !== undefined && change.isSuccess && !query.isFetching && wanted !== enabled
  return (
    <>
      <div
        className={`${layout.panel} ${styles.main} ${enabled ? '' : styles.off}`}
        role="status"
        data-enabled={enabled}
      >
        <Switch
          label={enabled ? 'Recovery rules are on' : 'Recovery rules are off'}
          checked={enabled}
          disabled={!mayChange || change.isPending}
          onChange={({ currentTarget: { checked } }) =>
            change.mutate({ settings: { rules_enabled: checked } })
          }
        />
        <span className="muted small">
          {enabled
            ? 'The rules are compared with every event.'
            : 'Nothing fires. Simulate your rules first, then switch them on.'}
          {isOverruled ? ' The setting of the whole gateway decides: rules_enabled.' : ''}
        </span>
      </div>
      <Failed error={change.error} />
    </>
  )
}

function Firings() {
  const query = useMethod('rules.history', { limit: 100 })
  return (
    <Panel>
      <LoadedList
        query={query}
        rows={6}
        of={({ firings }) => firings}
        empty={
          <Empty
            title="No rule has fired yet"
            action={
              <Link to="/recovery" search={{ tab: 'simulate' }}>
                Simulate one
              </Link>
            }
          >
            A firing appears here by itself, from the failure to the result of each action.
          </Empty>
        }
      >
        {(firing) => <FiringRow key={firing.firing_id} firing={firing} />}
      </LoadedList>
    </Panel>
  )
}
