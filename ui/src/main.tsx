import '@fontsource-variable/inter/wght.css'
import '@fontsource/jetbrains-mono/400.css'
import './mantine.css'
import './theme.css'
import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { SignedIn } from './frame/signed-in.tsx'
import { GatewayError } from './gateway/call.ts'
import { router } from './router.tsx'
import { mantineVariables, theme } from './theme.ts'

/** A refusal stays a refusal; only a gateway that does not answer is asked again. */
const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      retry: (count, error) =>
        count < 3 && error instanceof GatewayError && error.code === 'gateway.unreachable',
    },
  },
})

/** The content security policy lets only styles with this nonce in. */
const nonce = document.documentElement.dataset.nonce ?? ''
// The package that keeps the page from scrolling behind a dialog reads it from here.
Object.assign(globalThis, { __webpack_nonce__: nonce })

const root = document.getElementById('app')
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        defaultColorScheme="auto"
        cssVariablesResolver={mantineVariables}
        getStyleNonce={() => nonce}
      >
        <QueryClientProvider client={queries}>
          <SignedIn>
            <RouterProvider router={router} />
          </SignedIn>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  )
