import { Button, Group } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useCaller, useMay } from '../../frame/caller.ts'
import { call, callWithDraft, GatewayError } from '../../gateway/call.ts'
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
export function HookActions(props: HookActionsProps) {
  const { stored, isEdited } = props
  const mayChange = useMay('admin')
  const { master: isMaster } = useCaller()
  const save = useSave(props)
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
          onClick={() => save.mutate()}
        >
          {stored === undefined ? 'Save' : `Save version ${stored.version + 1}`}
        </Button>
      )}
      {save.error === null ? null : <ChangeFailed error={save.error} />}
    </Group>
  )
}

function useSave({ stored, draft, onSaved, onRefused }: HookActionsProps) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: async () => {
      const input = toInput(draft)
      if (stored === undefined) return callWithDraft('hooks.create', { scope: 'tenant', ...input })
      return call('hooks.update', { hookId: stored.id, updates: changesOf(stored, input) })
    },
    onError: (error) => {
      if (error instanceof GatewayError) onRefused(error)
    },
    onSuccess: ({ hookId }) => {
      onSaved()
      if (stored === undefined) void navigate({ to: '/hooks/$hookId', params: { hookId } })
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['hooks'] }),
  })
}

/** What one does to a hook without editing it. Of a built-in hook only the switch can change. */
function StoredHookActions({ stored }: { readonly stored: StoredHook }) {
  const queries = useQueryClient()
  const onSettled = () => queries.invalidateQueries({ queryKey: ['hooks'] })
  const update = useMutation({
    mutationFn: (updates: Record<string, unknown>) => call('hooks.update', { hookId: stored.id, updates }),
    onSettled,
  })
  const isBuiltIn = stored.source === 'builtin'
  return (
    <>
      {isBuiltIn ? null : (
        <Button
          variant="default"
          size="xs"
          onClick={() => update.mutate({ shadow: stored.shadow === true ? null : true })}
        >
          {stored.shadow === true ? 'Promote' : 'Shadow'}
        </Button>
      )}
      <Button variant="default" size="xs" onClick={() => update.mutate({ enabled: !stored.enabled })}>
        {stored.enabled ? 'Disable' : 'Enable'}
      </Button>
      {isBuiltIn ? null : <DeleteHook stored={stored} />}
      {update.error === null ? null : <ChangeFailed error={update.error} />}
    </>
  )
}

/** The first click names what happens, the second does it. */
function DeleteHook({ stored }: { readonly stored: StoredHook }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [isDeleting, setDeleting] = useState(false)
  const remove = useMutation({
    mutationFn: () => call('hooks.delete', { hookId: stored.id }),
    onSuccess: () => navigate({ to: '/hooks' }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['hooks'] }),
  })
  return (
    <>
      <Button
        variant="default"
        size="xs"
        {...(isDeleting ? { variant: 'filled', color: 'red' } : {})}
        onBlur={() => setDeleting(false)}
        onClick={() => (isDeleting ? remove.mutate() : setDeleting(true))}
      >
        {isDeleting ? `Delete ${stored.name ?? 'it'}: its events pass unguarded` : 'Delete'}
      </Button>
      {remove.error === null ? null : <ChangeFailed error={remove.error} />}
    </>
  )
}

function ChangeFailed({ error }: { readonly error: Error }) {
  const where = error instanceof GatewayError && error.at !== undefined ? `${error.at}: ` : ''
  return <Failed error={new Error(`${where}${error.message}`)} />
}

/** The fields that differ; null removes one. */
function changesOf(stored: StoredHook, input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const before = toInput(stored)
  const names = new Set([...Object.keys(before), ...Object.keys(input)])
  return Object.fromEntries(
    [...names]
      .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(input[name]))
      .map((name) => [name, input[name] ?? null]),
  )
}
