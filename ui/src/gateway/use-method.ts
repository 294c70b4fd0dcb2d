import { type QueryKey, type UseQueryOptions, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { call, type MethodName, type Params, type Result, unchecked } from './call.ts'

/** The key of what a method answered, for example `['teams', 'list', {}]`. The more words, the fewer answers it names. */
export function keyOf(method: string, ...about: readonly unknown[]): QueryKey {
  return [...method.split('.'), ...about]
}

/** Everything but key and request, which follow from the method. */
type MethodOptions<M extends MethodName, Data> = Omit<
  UseQueryOptions<Result<M>, Error, Data>,
  'queryKey' | 'queryFn'
>

/** What a method answers. `useFollowChanges` and `useAction` keep it up to date. */
export function useMethod<M extends MethodName, Data = Result<M>>(
  method: M,
  ...[params, options]: Record<never, never> extends Params<M>
    ? [params?: Params<M>, options?: MethodOptions<M, Data>]
    : [params: Params<M>, options?: MethodOptions<M, Data>]
): UseQueryResult<Data> {
  return useQuery({
    ...options,
    queryKey: keyOf(method, params ?? {}),
    queryFn: ({ signal }) => call(method, params ?? unchecked({}), signal),
  })
}
