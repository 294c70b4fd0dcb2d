import { Center, Loader } from '@mantine/core'
import { lazy, type ReactNode, Suspense } from 'react'
import { GatewayError } from '../gateway/call.ts'
import { Failed } from '../parts/layout.tsx'
import { useCallerQuery } from './caller.ts'

/** Most visits come with a session, so the form loads only when it is needed. */
const SignIn = lazy(async () => ({ default: (await import('./sign-in.tsx')).SignIn }))

/** Shows the app to someone who is signed in, and the sign-in to everyone else. */
export function SignedIn({ children }: Readonly<{ children: ReactNode }>) {
  const { data, error, refetch } = useCallerQuery()
  if (data !== undefined) return children
  if (error instanceof GatewayError && error.status === 401)
    return (
      <Suspense>
        <SignIn />
      </Suspense>
    )
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />
  return (
    <Center h="100vh">
      <Loader size="sm" aria-label="loading" />
    </Center>
  )
}
