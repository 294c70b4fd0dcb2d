import { Button, Menu, SegmentedControl } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { IconChevronDown } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { dump, load } from 'js-yaml'
import { useState } from 'react'
import { useMay } from '../../frame/caller.ts'
import { call, GatewayError } from '../../gateway/call.ts'
import { CodeEditor } from '../../parts/code-editor.tsx'
import { Text } from '../../parts/json.tsx'
import { layout, Panel } from '../../parts/layout.tsx'
import styles from './hook-config.module.css'
import { type HookEditorProps, HookForm } from './hook-form.tsx'
import { HookProof, usePreview } from './hook-proof.tsx'
import { type HookDraft, toInput } from './hook-schema.ts'

interface HookConfigProps extends HookEditorProps {
  /** Why the form cannot be changed. */
  readonly readOnlyReason: string | undefined
  /** Why the gateway did not save the draft. */
  readonly refusal: GatewayError | undefined
}

/** The form on the left, live proof on the right. */
export function HookConfig({ draft, onChange, isReadOnly, readOnlyReason, refusal }: HookConfigProps) {
  const [isText, setText] = useState(false)
  const mayPreview = useMay('operator')
  const preview = usePreview(draft, mayPreview)
  const problem = preview.error instanceof GatewayError ? preview.error : refusal
  return (
    <div className={layout.columns}>
      <Panel
        title="When and what"
        aside={
          <SegmentedControl
            size="xs"
            aria-label="Form or YAML"
            data={['Form', 'YAML']}
            value={isText ? 'YAML' : 'Form'}
            onChange={(value) => setText(value === 'YAML')}
          />
        }
      >
        {readOnlyReason === undefined ? null : <p className={styles.note}>{readOnlyReason}</p>}
        <div className={styles.form}>
          {isText ? (
            <DraftText draft={draft} onChange={onChange} isReadOnly={isReadOnly} />
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

/** The same draft as text. What cannot be read yet stays in the field and changes nothing. */
function DraftText({ draft, onChange, isReadOnly }: HookEditorProps) {
  const [text, setText] = useState(() => printYaml(toInput(draft)))
  const [problem, setProblem] = useState<string>()
  const change = (typed: string) => {
    setText(typed)
    try {
      const value: unknown = load(typed)
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        throw new Error('a hook is a mapping of fields')
      onChange({ ...value })
      setProblem(undefined)
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    }
  }
  return (
    <CodeEditor
      label="The hook as YAML"
      isLabelHidden
      language="yaml"
      minLines={18}
      isReadOnly={isReadOnly}
      value={text}
      problem={problem}
      onChange={change}
    />
  )
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
function Unenforced({ event }: { readonly event: unknown }) {
  const { data } = useQuery({
    queryKey: ['capabilities'],
    queryFn: ({ signal }) => call('capabilities.list', {}, signal),
    staleTime: 60_000,
  })
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

function AsFile({ draft }: { readonly draft: HookDraft }) {
  const { copy, copied } = useClipboard({ timeout: 1_500 })
  const input = toInput(draft)
  const text = printYaml({ version: 1, hooks: [{ id: idOf(draft), ...input }] })
  const json = JSON.stringify({ scope: 'tenant', ...input })
  return (
    <Panel
      title="As a file"
      aside={
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" size="compact-xs" rightSection={<IconChevronDown size={12} />}>
              {copied ? 'Copied' : 'Copy'}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => copy(text)}>as a file</Menu.Item>
            <Menu.Item onClick={() => copy(`hookhelm hooks create --file - <<'HOOK'\n${json}\nHOOK`)}>
              as a command
            </Menu.Item>
            <Menu.Item
              onClick={() =>
                copy(
                  `curl -H "Authorization: Bearer $HOOKHELM_TOKEN" -H "Content-Type: application/json" ${location.origin}/v1/hooks --data-binary @- <<'HOOK'\n${json}\nHOOK`,
                )
              }
            >
              as curl
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      }
    >
      <Text text={text} />
    </Panel>
  )
}

function idOf({ name }: HookDraft): string {
  return typeof name === 'string' && name !== '' ? name : 'my-hook'
}
