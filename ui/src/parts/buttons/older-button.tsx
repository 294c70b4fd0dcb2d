import { Button, type ButtonProps } from '@mantine/core'

interface OlderPages {
  readonly hasNextPage: boolean
  readonly isFetchingNextPage: boolean
  fetchNextPage(): unknown
}

/** Loads the next page of a list, if there is one. */
export function OlderButton({ query, ...props }: ButtonProps & { readonly query: OlderPages }) {
  if (!query.hasNextPage) return null
  return (
    <Button
      variant="default"
      mt="md"
      {...props}
      loading={query.isFetchingNextPage}
      onClick={() => query.fetchNextPage()}
    />
  )
}
