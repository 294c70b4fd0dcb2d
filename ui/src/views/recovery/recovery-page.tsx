import { Button, Switch, Tabs } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useMay } from '../../frame/caller.ts'
import { call } from '../../gateway/call.ts'
import { Empty, Failed, Loaded, Page, Panel } from '../../parts/layout.tsx'
import { Environments } from './environments.tsx'
import { FiringRows, useFirings } from './firing-list.tsx'
import styles from './recovery.module.css'
import { NEW_RULE } from './rule-draft.ts'
import { RuleList } from './rule-list.tsx'
import { SimulateTab } from './simulate-tab.tsx'
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
          <Button
            size="xs"
            renderRoot={(props) => (
              <Link to="/recovery/rules/$ruleId" params={{ ruleId: NEW_RULE }} {...props} />
            )}
          >
            New rule
          </Button>
        ) : null
      }
    >
      <MainSwitch />
      <Tabs
        value={tab}
        onChange={(chosen) =>
          void navigate({ to: '/recovery', search: chosen === null ? {} : { tab: chosen } })
        }
        keepMounted={false}
      >
        <Tabs.List mb="md" className={styles.tabs ?? ''}>
          <Tabs.Tab value="rules">Rules</Tabs.Tab>
          <Tabs.Tab value="firings">Firings</Tabs.Tab>
          <Tabs.Tab value="simulate">Simulate</Tabs.Tab>
          <Tabs.Tab value="teams">Teams and mailboxes</Tabs.Tab>
          {maySave ? <Tabs.Tab value="environments">Environments</Tabs.Tab> : null}
        </Tabs.List>
        <Tabs.Panel value="rules">
          <RuleList />
        </Tabs.Panel>
        <Tabs.Panel value="firings">
          <Firings />
        </Tabs.Panel>
        <Tabs.Panel value="simulate">
          <SimulateTab from={from} />
        </Tabs.Panel>
        <Tabs.Panel value="teams">
          <Teams team={team} messageId={message} />
        </Tabs.Panel>
        {maySave ? (
          <Tabs.Panel value="environments">
            <Environments />
          </Tabs.Panel>
        ) : null}
      </Tabs>
    </Page>
  )
}

/** Rules are off until a person switches them on. */
function MainSwitch() {
  const queries = useQueryClient()
  const mayChange = useMay('admin')
  const query = useQuery({ queryKey: ['rules'], queryFn: ({ signal }) => call('rules.list', {}, signal) })
  const change = useMutation({
    mutationFn: (rules_enabled: boolean) => call('settings.set', { settings: { rules_enabled } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['rules'] }),
  })
  if (query.data === undefined) return <div className={styles.main} />
  const { enabled } = query.data
  const wanted = change.variables
  const isOverruled = wanted !== undefined && change.isSuccess && !query.isFetching && wanted !== enabled
  return (
    <>
      <div className={`${styles.main} ${enabled ? '' : styles.off}`} role="status" data-enabled={enabled}>
        <Switch
          label={enabled ? 'Recovery rules are on' : 'Recovery rules are off'}
          checked={enabled}
          disabled={!mayChange || change.isPending}
          onChange={({ currentTarget }) => change.mutate(currentTarget.checked)}
        />
        <span className={styles.muted}>
          {enabled
            ? 'The rules are compared with every event.'
            : 'Nothing fires. Simulate your rules first, then switch them on.'}
          {isOverruled ? ' The setting of the whole gateway decides: rules_enabled.' : ''}
        </span>
      </div>
      {change.error === null ? null : <Failed error={change.error} />}
    </>
  )
}

function Firings() {
  const query = useFirings({ limit: 100 })
  return (
    <Panel>
      <Loaded query={query} rows={6}>
        {({ firings }) =>
          firings.length === 0 ? (
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
          ) : (
            <FiringRows firings={firings} />
          )
        }
      </Loaded>
    </Panel>
  )
}
