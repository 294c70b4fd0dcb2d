import { Button, Group } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useCaller, useMay } from '../../frame/caller.ts'
import { GatewayError, unchecked } from '../../gateway/call.ts'
import { useAction } from '../../gateway/use-action.ts'
import { Confirmed } from '../../parts/buttons/confirmed.tsx'
import { QuietButton } from '../../parts/buttons/quiet-button.ts'
import type { Fields } from '../../parts/form/fields.ts'
import { Failed } from '../../parts/layout.tsx'
import type { StoredHook } from './hook-page.tsx'
import { type HookDraft, toInput } from './hook-schema.ts'

interface HookActionsProps {
  readonly stored: StoredHook | undefined
  readonly draft: HookDraft
  readonly isEdited: boolean
  readonly onSaved: () => void
  readonly onRefused: (refusal: GatewayError) => void
}

/** Save, shadow, switch and delete, as far as the caller may. */
export function HookActions({ stored, draft, isEdited, onSaved, onRefused }: HookActionsProps) {
  const navigate = useNavigate()
  const mayChange = useMay('admin')
  const { master: isMaster } = useCaller()
  const save = useAction(stored === undefined ? 'hooks.create' : 'hooks.update', {
    onError: (error) => {
      if (error instanceof GatewayError) onRefused(error)
    },
    onSuccess: ({ hookId }) => {
      onSaved()
      if (stored === undefined) void navigate({ to: '/hooks/$hookId', params: { hookId } })
    },
  })
  // The gateway lets only master callers switch what belongs to all tenants.
  if (!mayChange || (stored?.source === 'builtin' && !isMaster)) return null
  return (
    <Group gap="xs" justify="flex-end">
      {stored === undefined ? null : <StoredHookActions stored={stored} />}
      {stored?.source === 'builtin' ? null : (
        <Button
          size="xs"
          disabled={stored !== undefined && !isEdited}
          loading={save.isPending}
          onClick={() => {
            const input = toInput(draft)
            save.mutate(
              stored === undefined
                ? unchecked({ scope: 'tenant', ...input })
                : { hookId: stored.id, updates: changesOf(stored, input) },
            )
          }}
        >
          {stored === undefined ? 'Save' : `Save version ${stored.version + 1}`}
        </Button>
      )}
      <Failed error={save.error} isPlaceShown />
    </Group>
  )
}

/** What one does to a hook without editing it. Of a built-in hook only the switch can change. */
function StoredHookActions({ stored }: Readonly<{ stored: StoredHook }>) {
  const navigate = useNavigate()
  const update = useAction('hooks.update')
  const remove = useAction('hooks.delete', { onSuccess: () => navigate({ to: '/hooks' }) })
  const isBuiltIn = stored.source === 'builtin'
  const set = (updates: Record<string, unknown>) => update.mutate({ hookId: stored.id, updates })
  return (
    <>
      {isBuiltIn ? null : (
        <QuietButton onClick={() => set({ shadow: stored.shadow ? null : true })}>
          {stored.shadow ? 'Promote' : 'Shadow'}
        </QuietButton>
      )}
      <QuietButton onClick={() => set({ enabled: !stored.enabled })}>
        {stored.enabled ? 'Disable' : 'Enable'}
      </QuietButton>
      {isBuiltIn ? null : (
        <Confirmed
          isBig
          word="Delete"
          sure={`Delete ${stored.name ?? 'it'}: its events pass unguarded`}
          onDo={() => remove.mutate({ hookId: stored.id })}
        />
      )}
      <Failed error={update.error ?? remove.error} isPlaceShown />
    </>
  )
}

/** The fields that differ; null removes one. */
function changesOf(stored: StoredHook, input: Fields): Record<string, unknown> {
  const before = toInput(stored)
  const names = new Set([...Object.keys(before), ...Object.keys(input)])
  return Object.fromEntries(
    [...names]
      .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(input[name]))
      .map((name) => [name, input[name] ?? null]),
  )
}
