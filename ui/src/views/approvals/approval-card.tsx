import { Button, NativeSelect, TextInput } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useCaller, useMay } from '../../frame/caller.ts'
import type { Result } from '../../gateway/call.ts'
import { useAction } from '../../gateway/use-action.ts'
import { CodeEditor } from '../../parts/form/code-editor.tsx'
import { readJson } from '../../parts/form/fields.ts'
import { agentTitle, formatClock, plural, showControls } from '../../parts/format.ts'
import { Diff, Json, printJson } from '../../parts/json.tsx'
import { Failed } from '../../parts/layout.tsx'
import { useNow } from '../../parts/values.tsx'
import styles from './approvals.module.css'

export type Approval = Result<'approvals.list'>['approvals'][number]
/** What the person is about to do with a card. */
export type CardMode = 'idle' | 'approve' | 'edit' | 'deny'

interface ApprovalCardProps {
  /** Identical calls, the oldest first. */
  readonly group: readonly Approval[]
  readonly isChosen: boolean
  readonly mode: CardMode
  readonly onMode: (mode: CardMode) => void
}

/** A call that waits, with those that are identical: who wants what, why a person is asked, and how long is left. */
export function ApprovalCard({ group, isChosen, mode, onMode }: ApprovalCardProps) {
  const { member } = useCaller()
  // Each call needs all its approvers, so a member goes on with one that it has not answered.
  const first = group.find(({ votes }) => !votes.some((vote) => vote.member === member)) ?? group[0]
  const card = useRef<HTMLElement>(null)
  useEffect(() => {
    if (isChosen) card.current?.scrollIntoView({ block: 'nearest' })
  }, [isChosen])
  if (first === undefined) return null
  const { agent, folder, what, reason, hook_name, votes } = first
  const name = folder?.split('/').findLast(Boolean)
  return (
    <section
      ref={card}
      className={styles.card}
      data-approval={first.approval_id}
      data-chosen={isChosen}
      aria-label={`${agentTitle(agent)} wants ${showControls(what ?? 'to make a call')}`}
    >
      <div className={styles.who}>
        <span>
          <b>{agentTitle(agent)}</b>
          {name === undefined ? null : (
            <>
              {' in '}
              <b title={showControls(folder ?? '')}>{showControls(name)}</b>
            </>
          )}
          {` wants`}
        </span>
        <Countdown approval={first} />
      </div>
      <Arguments approval={first} />
      <p className={styles.why}>
        {showControls(hook_name ?? 'A hook')} asks: {showControls(reason)}
        {group.length > 1
          ? ` · ${plural(group.length, 'identical call')} wait; an answer covers one of them.`
          : ''}
        {first.approvers_needed > 1
          ? ` · ${votes.length} of ${first.approvers_needed} people have approved.`
          : ''}
      </p>
      <Links approval={first} />
      <Routes messages={first.messages} />
      <Answer first={first} calls={group.length} mode={mode} onMode={onMode} />
    </section>
  )
}

function Links({ approval }: Readonly<{ approval: Approval }>) {
  const { approval_id, event_id, session_id, hook_id } = approval
  const mayDraft = useMay('admin')
  return (
    <p className={styles.links}>
      <Link to="/events/$eventId" params={{ eventId: event_id }}>
        Why
      </Link>
      {session_id === null ? null : (
        <Link to="/sessions/$sessionId" params={{ sessionId: session_id }}>
          session
        </Link>
      )}
      {hook_id === null ? null : (
        <Link to="/hooks/$hookId" params={{ hookId: hook_id }}>
          hook
        </Link>
      )}
      {mayDraft ? (
        <Link to="/hooks/$hookId" params={{ hookId: 'new' }} search={{ draft: approval_id }}>
          allow calls like this
        </Link>
      ) : null}
    </p>
  )
}

/** How far the message to each route has come. */
function Routes({ messages }: Pick<Approval, 'messages'>) {
  if (messages.length === 0) return null
  return (
    <ul className={styles.sent} aria-label="Routes">
      {messages.map(({ route, member, state, at, error }) => (
        <li key={`${route} ${member ?? ''} ${at}`} data-state={state} title={error ?? undefined}>
          {showControls(member === undefined ? route : `${route}: ${member}`)}{' '}
          {state === 'failed'
            ? `failed: ${showControls((error ?? 'no answer').slice(0, 120))}`
            : state === 'sent'
              ? `sent at ${formatClock(at)}`
              : state === 'waiting' && at > Date.now()
                ? `next at ${formatClock(at)}`
                : state}
        </li>
      ))}
    </ul>
  )
}

/** A single text argument reads best as it is; anything else as JSON. */
function Arguments({ approval: { input, what, edited, votes } }: Readonly<{ approval: Approval }>) {
  if (edited !== null)
    return (
      <div className={styles.what}>
        <p>{showControls(votes.at(-1)?.by ?? 'Another person')} edited the arguments:</p>
        <Diff before={input} after={edited} />
      </div>
    )
  const values = typeof input === 'object' && input !== null ? Object.values(input) : []
  const [only] = values
  if (values.length === 1 && typeof only === 'string' && only === what)
    return <pre className={styles.what}>{showControls(only)}</pre>
  return (
    <div className={styles.what}>
      <Json value={input} />
    </div>
  )
}

interface AnswerProps extends Pick<ApprovalCardProps, 'mode' | 'onMode'> {
  readonly first: Approval
  /** How many identical calls wait. */
  readonly calls: number
}

function Answer({ first, calls, mode, onMode }: AnswerProps) {
  const [isForAll, setForAll] = useState(false)
  const coversAll = isForAll && calls > 1
  const which = { approval_id: first.approval_id, ...(coversAll ? { alike: true, calls } : {}) }
  const answered = { onSuccess: () => onMode('idle') }
  const approve = useAction('approvals.approve', answered)
  const deny = useAction('approvals.deny', answered)
  const all = coversAll ? ` all ${calls}` : ''
  return (
    <>
      <Failed error={approve.error ?? deny.error} />
      {mode === 'deny' ? (
        <Deny
          onDeny={(message) => deny.mutate({ ...which, message: message || undefined })}
          onBack={() => onMode('idle')}
        />
      ) : mode === 'edit' ? (
        <Edit
          approval={first}
          onApprove={(input) => approve.mutate({ ...which, input })}
          onBack={() => onMode('idle')}
        />
      ) : (
        <div className={styles.buttons}>
          {calls > 1 ? (
            <NativeSelect
              aria-label="How many calls the answer covers"
              size="md"
              data={[
                { value: 'one', label: 'one call' },
                { value: 'all', label: `all ${calls}` },
              ]}
              value={coversAll ? 'all' : 'one'}
              onChange={({ currentTarget }) => setForAll(currentTarget.value === 'all')}
            />
          ) : null}
          <Button variant="outline" className={styles.deny} size="md" onClick={() => onMode('deny')}>
            Deny{all}
          </Button>
          {first.can_edit ? (
            <Button variant="default" size="md" onClick={() => onMode('edit')}>
              Edit
            </Button>
          ) : null}
          <Approve
            isAsked={mode === 'approve'}
            isSending={approve.isPending}
            canGrant={first.session_id !== null && first.approvers_needed === 1}
            onMode={onMode}
            all={all}
          >
            {(grantMs) =>
              // What is approved is what the card shows.
              approve.mutate({ ...which, input: first.edited ?? undefined, grant_ms: grantMs || undefined })
            }
          </Approve>
        </div>
      )}
    </>
  )
}

interface ApproveProps {
  readonly isAsked: boolean
  readonly isSending: boolean
  readonly canGrant: boolean
  readonly all: string
  readonly onMode: (mode: CardMode) => void
  readonly children: (grantMs: number) => void
}

const grants = [
  { value: '0', label: 'only this call' },
  { value: '900000', label: 'this session, 15 min' },
  { value: '3600000', label: 'this session, 1 h' },
]

/** The first press asks, the second sends: a slip of the finger approves nothing. */
function Approve({ isAsked, isSending, canGrant, all, onMode, children: send }: ApproveProps) {
  const button = useRef<HTMLButtonElement>(null)
  const [grantMs, setGrantMs] = useState('0')
  useEffect(() => {
    if (isAsked) button.current?.focus()
  }, [isAsked])
  return (
    <fieldset
      aria-label="Approve"
      className={styles.approve}
      onBlur={({ currentTarget, relatedTarget }) => {
        const isInside = relatedTarget instanceof Node && currentTarget.contains(relatedTarget)
        if (isAsked && !isSending && !isInside) onMode('idle')
      }}
    >
      {isAsked && canGrant ? (
        <NativeSelect
          aria-label="How long the approval counts"
          size="md"
          data={grants}
          value={grantMs}
          onChange={({ currentTarget }) => setGrantMs(currentTarget.value)}
        />
      ) : null}
      <Button
        ref={button}
        size="md"
        loading={isSending}
        onClick={() => (isAsked ? send(Number(grantMs)) : onMode('approve'))}
      >
        {isAsked ? 'Yes, let it run' : `Approve${all}`}
      </Button>
    </fieldset>
  )
}

function Deny({ onDeny, onBack }: Readonly<{ onDeny: (message: string) => void; onBack: () => void }>) {
  const [message, setMessage] = useState('')
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        onDeny(message.trim())
      }}
    >
      <TextInput
        label="Message to the agent"
        description="The model reads it. It may stay empty."
        value={message}
        onChange={(event) => setMessage(event.currentTarget.value)}
        onKeyDown={(event) => (event.key === 'Escape' ? onBack() : undefined)}
        autoFocus
      />
      <Buttons onBack={onBack}>
        <Button type="submit" color="red" size="md">
          Deny
        </Button>
      </Buttons>
    </form>
  )
}

interface EditProps {
  readonly approval: Approval
  readonly onApprove: (input: unknown) => void
  readonly onBack: () => void
}

/** The edited arguments pass the hooks again before they run. */
function Edit({ approval: { input: asked, edited: before }, onApprove, onBack }: EditProps) {
  const input = before ?? asked
  const [text, setText] = useState(printJson(input))
  const edited = readJson(text)
  return (
    <div className={styles.form}>
      <CodeEditor
        label="Arguments"
        description="The hooks see the change before it runs, and may block it."
        language="json"
        value={text}
        onChange={setText}
        problem={edited.problem}
      />
      {edited.problem === undefined && text !== printJson(input) ? (
        <Diff before={input} after={edited.value} />
      ) : null}
      <Buttons onBack={onBack}>
        <Button size="md" disabled={edited.problem !== undefined} onClick={() => onApprove(edited.value)}>
          Approve the edit
        </Button>
      </Buttons>
    </div>
  )
}

function Buttons({ onBack, children }: Readonly<{ onBack: () => void; children: ReactNode }>) {
  return (
    <div className={styles.buttons}>
      <Button variant="default" size="md" onClick={onBack}>
        Back
      </Button>
      {children}
    </div>
  )
}

/** The time until the call is denied by itself. */
function Countdown({ approval: { created_at, deadline_at } }: Readonly<{ approval: Approval }>) {
  const now = useNow(1_000)
  const left = Math.max(0, Math.ceil((deadline_at - now) / 1_000))
  const share = Math.min(100, (100 * (deadline_at - now)) / Math.max(1, deadline_at - created_at))
  return (
    <>
      <span className={styles.left} title="then the call is denied">
        {Math.floor(left / 60)}:{String(left % 60).padStart(2, '0')}
      </span>
      <span className={styles.bar} style={{ width: `${Math.max(0, share)}%` }} aria-hidden />
    </>
  )
}
