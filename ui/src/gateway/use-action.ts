import {
  type UseMutationOptions,
  type UseMutationResult,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query'
import { call, type MethodName, type Params, type Result } from './call.ts'
import { queriesTouchedBy } from './changes.ts'

type ActionOptions<M extends MethodName> = Pick<
  UseMutationOptions<Result<M>, Error, Params<M>>,
  'onSuccess' | 'onError'
>

/**
 * Calls a method that changes something, and then reads again what shows it. `onSuccess` comes before that; the
 * callbacks of `mutate` come after it.
 */
export function useAction<M extends MethodName>(
  method: M,
  options: ActionOptions<M> = {},
): UseMutationResult<Result<M>, Error, Params<M>> {
  const queries = useQueryClient()
  return useMutation({
    ...options,
    mutationFn: (params) => call(method, params),
    onSettled: () =>
      Promise.all(queriesTouchedBy(method).map((queryKey) => queries.invalidateQueries({ queryKey }))),
  })
}
