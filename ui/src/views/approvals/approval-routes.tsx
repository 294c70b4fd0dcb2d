import { Button, NumberInput, Select, Switch, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useAction } from '../../gateway/use-action.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { fieldsOf } from '../../parts/form/fields.ts'
import { Empty, Failed, Loaded, Panel } from '../../parts/layout.tsx'
import styles from './approvals.module.css'

const kinds = {
  slack: { title: 'Slack-compatible chat', field: 'url', label: 'Address or secret:NAME' },
  email: { title: 'E-mail', field: 'to', label: 'E-mail address' },
  webhook: { title: 'Webhook (signed)', field: 'url', label: 'Address or secret:NAME' },
  team: { title: 'Team', field: 'team', label: 'Name of the team' },
} as const
type Kind = keyof typeof kinds
const kindNames: readonly Kind[] = ['slack', 'email', 'webhook', 'team']

/** One route while it is edited. */
interface RouteDraft {
  readonly key: number
  readonly name: string
  readonly after: number
  readonly kind: Kind
  readonly target: string
  readonly secret: string
  /** What the form does not show stays as it is. */
  readonly rest: Readonly<Record<string, unknown>>
}

let lastKey = 0

function toDraft(route: unknown): RouteDraft {
  const { name, after_minutes, to } = fieldsOf(route)
  const { type, secret, ...target } = fieldsOf(to)
  const kind = kindNames.find((known) => known === type) ?? 'slack'
  const { [kinds[kind].field]: where, ...rest } = target
  lastKey += 1
  return {
    ...{ key: lastKey, kind, rest, name: String(name ?? ''), after: Number(after_minutes ?? 0) },
    ...{ target: String(where ?? ''), secret: String(secret ?? '') },
  }
}

function toRoute({ name, after, kind, target, secret, rest }: RouteDraft) {
  const signed = kind === 'webhook' && secret !== '' ? { secret } : {}
  return {
    name,
    ...(after === 0 ? {} : { after_minutes: after }),
    to: { ...rest, type: kind, [kinds[kind].field]: target, ...signed },
  }
}

/** Where questions are sent, and after how long the next one is asked. */
export function ApprovalRoutes() {
  const query = useMethod('settings.get')
  return (
    <Panel title="Where questions are sent">
      <Loaded query={query} rows={4}>
        {({ settings }) => {
          const value = (name: string) => settings[name]?.value
          const routes = value('approval_routes')
          return (
            <RoutesForm
              key={JSON.stringify([routes, value('approval_links'), value('approval_timeout_ms')])}
              routes={Array.isArray(routes) ? routes.map(toDraft) : []}
              needsSignIn={value('approval_links') === 'sign_in'}
              minutes={Number(value('approval_timeout_ms')) / 60_000}
            />
          )
        }}
      </Loaded>
    </Panel>
  )
}

interface RoutesFormProps {
  readonly routes: readonly RouteDraft[]
  readonly needsSignIn: boolean
  /** The deadline of a question. */
  readonly minutes: number
}

function RoutesForm(before: RoutesFormProps) {
  const [routes, setRoutes] = useState(before.routes)
  const [needsSignIn, setNeedsSignIn] = useState(before.needsSignIn)
  const [minutes, setMinutes] = useState(before.minutes)
  const save = useAction('settings.set')
  const settings = {
    approval_routes: routes.map(toRoute),
    approval_links: needsSignIn ? 'sign_in' : null,
    approval_timeout_ms: Math.round(minutes * 60_000),
  }
  const change = (key: number, more: Partial<RouteDraft>) =>
    setRoutes(routes.map((route) => (route.key === key ? { ...route, ...more } : route)))
  return (
    <form
      className={styles.routeForm}
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate({ settings })
      }}
    >
      <p className={styles.muted}>
        The web app and <code>hookhelm approvals watch</code> always show every question.
      </p>
      {routes.length === 0 ? <NoRoute /> : null}
      {routes.map((route, index) => (
        <RouteFields
          key={route.key}
          route={route}
          number={index + 1}
          onChange={(more) => change(route.key, more)}
          onRemove={() => setRoutes(routes.filter(({ key }) => key !== route.key))}
        />
      ))}
      <div className={styles.deadline}>
        <NumberInput
          w={280}
          label="Without an answer the call is denied after"
          suffix=" min"
          min={1}
          max={10_080}
          value={minutes}
          onChange={(value) => setMinutes(Number(value))}
        />
        <Switch
          label="Links answer only for people who are signed in"
          checked={needsSignIn}
          onChange={({ currentTarget }) => setNeedsSignIn(currentTarget.checked)}
        />
      </div>
      <Failed error={save.error} />
      <div className={styles.save}>
        <Button variant="default" onClick={() => setRoutes([...routes, toDraft({})])}>
          Add a route
        </Button>
        <Button type="submit" loading={save.isPending}>
          Save the routes
        </Button>
      </div>
    </form>
  )
}

function NoRoute() {
  return (
    <Empty title="No further route">
      Add a chat, a mailbox, a program or a team. Each message has links that open a page to approve or deny.
    </Empty>
  )
}

interface RouteFieldsProps {
  readonly route: RouteDraft
  readonly number: number
  readonly onChange: (more: Partial<RouteDraft>) => void
  readonly onRemove: () => void
}

function RouteFields({ route, number, onChange, onRemove }: RouteFieldsProps) {
  const { name, after, kind, target, secret } = route
  return (
    <fieldset className={styles.route}>
      <legend>Route {number}</legend>
      <TextInput
        label="Name"
        required
        value={name}
        onChange={({ currentTarget }) => onChange({ name: currentTarget.value })}
      />
      <Select
        label="To"
        data={kindNames.map((value) => ({ value, label: kinds[value].title }))}
        value={kind}
        allowDeselect={false}
        onChange={(value) => onChange({ kind: value ?? kind, rest: {} })}
      />
      <TextInput
        label={kinds[kind].label}
        required
        value={target}
        onChange={({ currentTarget }) => onChange({ target: currentTarget.value })}
      />
      {kind === 'webhook' ? (
        <TextInput
          label="Signing secret"
          placeholder="whsec_… or secret:NAME"
          value={secret}
          onChange={({ currentTarget }) => onChange({ secret: currentTarget.value })}
        />
      ) : null}
      <NumberInput
        label="After"
        suffix=" min"
        min={0}
        max={10_080}
        value={after}
        onChange={(value) => onChange({ after: Number(value) })}
      />
      <Button variant="default" size="compact-sm" onClick={onRemove} aria-label={`Remove route ${number}`}>
        Remove
      </Button>
    </fieldset>
  )
}
