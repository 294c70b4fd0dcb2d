import { afterAll, test } from 'vitest'
import { shared } from '../gateway/running.fixture.ts'
import { freshDatabase, type TestDatabase } from '../postgres/database.ts'
import { browser } from './browser.fixture.ts'
import { changeInTwoBrowsers, loseConnection, makeAndChangeHook } from './flows.fixture.ts'

let database: TestDatabase | undefined
// Hooks that end a file run last to first, so the gateway closes before its database goes.
afterAll(() => database?.drop())
const gateway = shared(async () => {
  database = await freshDatabase()
  return {
    database: database.url,
    env: { HOOKHELM_ENCRYPTION_KEY: 'cd'.repeat(32) },
    // The test of a lost connection reaches it through another port.
    hosts: ['127.0.0.1'],
  }
})
const flowParts = browser()

test('on PostgreSQL a person makes a hook, fires it, watches it decide, reads why, and changes it', () =>
  makeAndChangeHook({ gateway: gateway(), ...flowParts }))

test('on PostgreSQL two browsers see each other’s change without a reload', () =>
  changeInTwoBrowsers({ gateway: gateway(), ...flowParts }))

test('on PostgreSQL after a lost connection the events in between appear', () =>
  loseConnection({ gateway: gateway(), ...flowParts }))
