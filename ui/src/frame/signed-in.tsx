import { Button, Center, Loader, PasswordInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { GatewayError, logIn } from '../gateway/call.ts'
import { Failed } from '../parts/layout.tsx'
import { useCallerQuery } from './caller.ts'
import { Mark } from './mark.tsx'
import styles from './signed-in.module.css'

/** Shows the app to someone who is signed in, and the sign-in to everyone else. */
export function SignedIn({ children }: { readonly children: ReactNode }) {
  const { data, error, refetch } = useCallerQuery()
  if (data !== undefined) return children
  if (error instanceof GatewayError && error.status === 401) return <SignIn />
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />
  return (
    <Center h="100vh">
      <Loader size="sm" aria-label="loading" />
    </Center>
  )
}

function SignIn() {
  const queries = useQueryClient()
  const [token, setToken] = useState('')
  const [problem, setProblem] = useState<string>()
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    try {
      await logIn(token.trim())
      await queries.invalidateQueries()
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    }
  }
  return (
    <main className={styles.page}>
      <form className={styles.card} onSubmit={submit}>
        <h1 className={styles.brand}>
          <Mark /> Hookhelm
        </h1>
        <p>
          Run <code>hookhelm up</code> and open the link that it prints. It works once, for ten minutes.
        </p>
        <PasswordInput
          label="Or paste a token"
          description="hookhelm tokens create --name me --role viewer"
          placeholder="hht_…"
          autoComplete="off"
          value={token}
          onChange={({ currentTarget }) => setToken(currentTarget.value)}
          error={problem}
        />
        <Button type="submit" disabled={token.trim() === ''}>
          Sign in
        </Button>
      </form>
    </main>
  )
}
