import { expectTypeOf, test } from 'vitest'
import type { Client } from '../client/client.ts'
import type { SubscriptionItem } from '../client/subscribe.ts'
import { schema } from '../engine/core/schema/schema.ts'
import type { Clock } from '../engine/core/time/clock.ts'
import type { Methods, Subscriptions } from '../gateway/methods.ts'
import type { Store } from '../store/store.ts'
import { defineCall } from './method.ts'

test('a method receives the parts that its row needs, and no others', () => {
  defineCall({
    name: 'things.get',
    about: 'One thing.',
    role: 'viewer',
    rest: { verb: 'GET', path: '/v1/things' },
    params: schema.object({ id: schema.text() }),
    result: schema.object({}),
    needs: ['store', 'clock'],
    async run({ params, parts }) {
      expectTypeOf(params).toEqualTypeOf<{ readonly id: string }>()
      expectTypeOf(parts).toEqualTypeOf<{ readonly store: Store; readonly clock: Clock }>()
      return {}
    },
  })
})

test('the client can call every method, and subscribe to the subscriptions only', () => {
  expectTypeOf<Parameters<Client['call']>[0]>().toEqualTypeOf<keyof Methods>()
  expectTypeOf<Parameters<Client['subscribe']>[0]>().toEqualTypeOf<keyof Subscriptions>()
  expectTypeOf<keyof Subscriptions>().toEqualTypeOf<
    'executions.tail' | 'events.tail' | 'changes.tail' | 'runSessions.tail'
  >()
  type Execution = Methods['executions.tail']['result']['executions'][number]
  type Event = Methods['events.tail']['result']['events'][number]
  type Change = Methods['changes.tail']['result']['changes'][number]
  type RunEvent = Methods['runSessions.tail']['result']['events'][number]
  expectTypeOf<ReturnType<Client['subscribe']>>().toEqualTypeOf<
    AsyncGenerator<SubscriptionItem<Execution | Event | Change | RunEvent>>
  >()
})
