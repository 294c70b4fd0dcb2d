import { dump, load } from 'js-yaml'
import { useState } from 'react'
import { useMay } from '../../frame/caller.ts'
import { GatewayError } from '../../gateway/call.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { CopyMenu } from '../../parts/buttons/copy-menu.tsx'
import { DraftText } from '../../parts/form/draft-text.tsx'
import { type Fields, isFields, type ReadText, textOf } from '../../parts/form/fields.ts'
import { TwoWay } from '../../parts/form/two-way.tsx'
import { Text } from '../../parts/json.tsx'
import { layout, Panel } from '../../parts/layout.tsx'
import styles from './hook.module.css'
import { type HookEditorProps, HookForm } from './hook-form.tsx'
import { HookProof, usePreview } from './hook-proof.tsx'
import { type HookDraft, toInput } from './hook-schema.ts'

interface HookConfigProps extends Omit<HookEditorProps, 'isReadOnly'> {
  /** Why the form cannot be changed. */
  readonly readOnlyReason: string | undefined
  /** Why the gateway did not save the draft. */
  readonly refusal: GatewayError | undefined
}

/** The form on the left, live proof on the right. */
export function HookConfig({ draft, onChange, readOnlyReason, refusal }: HookConfigProps) {
  const isReadOnly = readOnlyReason !== undefined
  const [isText, setText] = useState(false)
  const mayPreview = useMay('operator')
  const preview = usePreview(draft, mayPreview)
  const problem = preview.error instanceof GatewayError ? preview.error : refusal
  return (
    <div className={layout.columns}>
      <Panel
        title="When and what"
        aside={<TwoWay label="Form or YAML" words={['Form', 'YAML']} isSecond={isText} onChange={setText} />}
      >
        {readOnlyReason === undefined ? null : <p className={styles.note}>{readOnlyReason}</p>}
        <div className={layout.form}>
          {isText ? (
            <DraftText
              label="The hook as YAML"
              language="yaml"
              value={draft}
              print={(hook) => printYaml(toInput(hook))}
              read={readYaml}
              onChange={onChange}
              isReadOnly={isReadOnly}
            />
          ) : (
            <HookForm draft={draft} onChange={onChange} isReadOnly={isReadOnly} problem={problem} />
          )}
        </div>
      </Panel>
      <div className={layout.stack}>
        {mayPreview ? <HookProof preview={preview} /> : null}
        <Unenforced event={draft.event} />
        <AsFile draft={draft} />
      </div>
    </div>
  )
}

function readYaml(text: string): ReadText<Fields> {
  try {
    const value: unknown = load(text)
    return isFields(value) ? { value } : { problem: 'a hook is a mapping of fields' }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

/** As hook files are written; long lines stay whole. */
function printYaml(value: unknown): string {
  return dump(value, { lineWidth: -1 })
}

/** What the list of capabilities calls the events that some agents do not let hooks decide. */
const subjects: Readonly<Record<string, string>> = {
  pre_tool_use: 'tool calls',
  user_prompt_submit: 'prompts',
  permission_request: 'permission requests',
  subagent_start: 'sub-agents',
  post_tool_use: 'tool output',
  stop: 'the end of a turn',
}

/** The connected agents that do not honour every answer of a hook on this event. */
function Unenforced({ event }: Readonly<{ event: unknown }>) {
  const { data } = useMethod('capabilities.list', {}, { staleTime: 60_000 })
  const subject = `${typeof event === 'string' ? subjects[event] : undefined}: `
  const lacking = (data?.capabilities ?? []).flatMap(({ title, cannot, last_at }) =>
    last_at === null
      ? []
      : cannot
          .filter((line) => line.startsWith(subject))
          .map((line) => ({ title, effects: line.slice(subject.length) })),
  )
  if (lacking.length === 0) return null
  return (
    <Panel title="Where it cannot be enforced">
      <ul className={styles.unenforced}>
        {lacking.map(({ title, effects }) => (
          <li key={title}>
            With <b>{title}</b> {subject.slice(0, -2)} cannot be {effects}.
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function AsFile({ draft }: Readonly<{ draft: HookDraft }>) {
  const input = toInput(draft)
  const text = printYaml({ version: 1, hooks: [{ id: textOf(draft.name) || 'my-hook', ...input }] })
  const json = JSON.stringify({ scope: 'tenant', ...input })
  const headers = '-H "Authorization: Bearer $HOOKHELM_TOKEN" -H "Content-Type: application/json"'
  return (
    <Panel
      title="As a file"
      aside={
        <CopyMenu
          isSmall
          texts={[
            ['as a file', text],
            ['as a command', `hookhelm hooks create --file - <<'HOOK'\n${json}\nHOOK`],
            [
              'as curl',
              `curl ${headers} ${location.origin}/v1/hooks --data-binary @- <<'HOOK'\n${json}\nHOOK`,
            ],
          ]}
        />
      }
    >
      <Text text={text} />
    </Panel>
  )
}
