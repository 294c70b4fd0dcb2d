import { Switch } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMay } from '../../frame/caller.ts'
import type { Result } from '../../gateway/call.ts'
import { useAction } from '../../gateway/use-action.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { Decision, type Outcome } from '../../parts/decision.tsx'
import { plural } from '../../parts/format.ts'
import { Empty, Failed, Loaded, layout, Panel, Tag } from '../../parts/layout.tsx'
import { Age, CopyCommand } from '../../parts/values.tsx'
import { ActionStatus, type Firing } from '../recovery/firing-list.tsx'
import styles from '../recovery/recovery.module.css'
import { WindowClock } from './clock.tsx'
import { describeRule, type ListedRule, NEW_RULE, STORED } from './rule-draft.ts'

type RuleFile = Result<'rules.list'>['files'][number]

/** Every rule with its clocks and its last firing, and the files that rules come from. */
export function RuleList() {
  const maySave = useMay('admin')
  const query = useMethod('rules.list')
  const history = useMethod('rules.history', { limit: 100 })
  return (
    <div className={layout.stack}>
      <Panel>
        <Loaded query={query} rows={5}>
          {({ rules, files }) =>
            rules.length === 0 ? (
              <Empty
                title="No rule yet"
                action={
                  maySave ? (
                    <Link to="/recovery/rules/$ruleId" params={{ ruleId: NEW_RULE }}>
                      Write the first rule
                    </Link>
                  ) : undefined
                }
              >
                A rule says what happens when a tool fails, a task is not accepted or a run ends with an
                error.{' '}
                {files.length === 0 ? 'Rules can also be in ' : 'Rules of the files below count, too: '}
                <code>.hookhelm/hook-chains.json</code>.
              </Empty>
            ) : (
              rules.map((rule) => (
                <RuleRow
                  key={`${rule.source} ${rule.id}`}
                  rule={rule}
                  readAt={query.dataUpdatedAt}
                  firings={firingsOf(rule, history.data?.firings ?? [])}
                  firingsReadAt={history.dataUpdatedAt}
                />
              ))
            )
          }
        </Loaded>
      </Panel>
      {query.data === undefined || query.data.files.length === 0 ? null : (
        <Panel title="Rule files" aside="read-only here: change the file">
          {query.data.files.map((file) => (
            <FileRow key={file.file} file={file} />
          ))}
        </Panel>
      )}
    </div>
  )
}

function firingsOf({ id, source }: ListedRule, firings: readonly Firing[]): readonly Firing[] {
  return firings.filter((firing) => firing.rule_id === id && firing.source === source)
}

interface RuleRowProps {
  readonly rule: ListedRule
  readonly readAt: number
  readonly firings: readonly Firing[]
  readonly firingsReadAt: number
}

function RuleRow({ rule, readAt, firings, firingsReadAt }: RuleRowProps) {
  const { id, source, enabled, definition, problem } = rule
  const { when, does } = describeRule(definition ?? {})
  return (
    <div className={`${layout.row} ${styles.rule}`} data-rule={id} data-source={source}>
      <RuleSwitch rule={rule} />
      <Link
        to="/recovery/rules/$ruleId"
        params={{ ruleId: id }}
        search={{ source: source === STORED ? undefined : source }}
        className={styles.sentence ?? ''}
      >
        <span className={styles.name}>
          <b>{id}</b>
          {source === STORED ? null : <Tag>file</Tag>}
          {enabled ? null : <Tag>off</Tag>}
        </span>
        {problem === null ? (
          <span className="muted small cut" title={`${when} → ${does}`}>
            {when} → {does}
          </span>
        ) : (
          <span className={styles.problem}>{problem}</span>
        )}
      </Link>
      <Clocks rule={rule} readAt={readAt} firings={firings} firingsReadAt={firingsReadAt} />
      <LastFiring firing={firings[0]} />
    </div>
  )
}

function RuleSwitch({ rule: { id, source, enabled } }: Readonly<{ rule: ListedRule }>) {
  const mayToggle = useMay('operator')
  const toggle = useAction('rules.toggle')
  return (
    <span className={styles.switch}>
      <Switch
        size="xs"
        aria-label={`${id} is ${enabled ? 'on' : 'off'}`}
        title={source === STORED ? undefined : 'It comes from a file: change the file.'}
        checked={enabled}
        disabled={!mayToggle || source !== STORED || toggle.isPending}
        onChange={({ currentTarget }) => toggle.mutate({ id, enabled: currentTarget.checked })}
      />
      <Failed error={toggle.error} />
    </span>
  )
}

/** The cooldown of the rule, and the longest dedup window of its latest firings. */
function Clocks({ rule, readAt, firings, firingsReadAt }: RuleRowProps) {
  const { cooldown_ms, cooldown_left_ms, dedup_window_ms } = rule
  if (cooldown_ms === null || dedup_window_ms === null) return <span />
  const held = Math.max(0, ...firings.flatMap(({ actions }) => actions.map((each) => each.dedup_left_ms)))
  return (
    <span className={styles.clocks}>
      <WindowClock name="cooldown" leftMs={cooldown_left_ms} readAt={readAt} windowMs={cooldown_ms} />
      <WindowClock
        name="dedup"
        leftMs={held}
        readAt={firingsReadAt}
        windowMs={Math.max(dedup_window_ms, held)}
      />
    </span>
  )
}

function LastFiring({ firing }: Readonly<{ firing: Firing | undefined }>) {
  if (firing === undefined) return <span className="muted small">has not fired</span>
  const { firing_id, actions, created_at } = firing
  const worst =
    actions.find(({ status }) => status === 'failed') ??
    actions.find(({ status }) => status === 'pending' || status === 'started') ??
    actions.find(({ status }) => status === 'executed') ??
    actions[0]
  return (
    <Link
      to="/recovery/firings/$firingId"
      params={{ firingId: firing_id }}
      className={styles.last ?? ''}
      data-firing={firing_id}
    >
      {worst === undefined ? null : <ActionStatus status={worst.status} />}
      <span className="muted small">
        <Age at={created_at} />
      </span>
    </Link>
  )
}

const states: Readonly<Record<RuleFile['state'], readonly [Outcome, string]>> = {
  good: ['allow', 'in force'],
  red: ['failed', 'cannot be used'],
  untrusted: ['skip', 'not trusted'],
  changed: ['opened', 'changed since it was trusted'],
  gone: ['opened', 'gone'],
}

function FileRow({ file: { file, state, rules, problem } }: Readonly<{ file: RuleFile }>) {
  const [outcome, word] = states[state]
  const inForce = `${plural(rules, 'rule')} in force`
  const about: Readonly<Record<RuleFile['state'], string>> = {
    good: inForce,
    red: `${problem ?? 'it cannot be read'} — ${rules === 0 ? 'none of its rules is in force' : `${inForce}, as before`}`,
    untrusted: 'no rule of it is in force until you trust it',
    changed: `${inForce}: those that were trusted`,
    gone: `${inForce}: those that were trusted`,
  }
  return (
    <div className={`${layout.row} ${styles.file}`} data-file={file} data-state={state}>
      <Decision outcome={outcome}>{word}</Decision>
      <span className={styles.path}>
        <code>{file}</code>
        <span className="muted small">{about[state]}</span>
      </span>
      {state === 'good' || state === 'red' ? null : (
        <CopyCommand text={`hookhelm trust --cwd ${repositoryOf(file)}`} />
      )}
    </div>
  )
}

/** `.hookhelm/hook-chains.json` is below the folder that is trusted. */
function repositoryOf(file: string): string {
  return file.split('/').slice(0, -2).join('/') || '/'
}
