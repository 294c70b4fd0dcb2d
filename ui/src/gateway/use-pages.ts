import { type InfiniteData, type UseInfiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import { call, type MethodName, type Params, type Result, unchecked } from './call.ts'
import { keyOf } from './use-method.ts'

/** Methods that answer page by page. */
type PagedMethod = {
  [M in MethodName]: Result<M> extends { readonly nextCursor: string } ? M : never
}[MethodName]

/** The pages that a method answers, as many as were asked for. The pages together count as one answer of the method. */
export function usePages<M extends PagedMethod>(
  method: M,
  params: Params<M>,
  options: Pick<
    UseInfiniteQueryOptions<Result<M>, Error, InfiniteData<Result<M>>, readonly unknown[], string>,
    'refetchInterval'
  > = {},
) {
  return useInfiniteQuery({
    ...options,
    queryKey: keyOf(method, 'pages', params),
    queryFn: ({ pageParam, signal }) =>
      call(method, unchecked<Params<M>>({ ...params, cursor: pageParam || undefined }), signal),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor || undefined,
  })
}
