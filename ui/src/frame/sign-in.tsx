import { Button, PasswordInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { logIn } from '../gateway/call.ts'
import { Mark } from './mark.tsx'
import styles from './sign-in.module.css'

/** The link of `hookhelm up`, or a token pasted once. */
export function SignIn() {
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
