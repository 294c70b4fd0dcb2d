import { expect, test } from 'vitest'
import { methods } from '../../gateway/methods/table.ts'
import { nouns, remoteCommands } from './nouns.ts'

const named = methods.map(({ name }) => name.split('.'))

test('the nouns of the command line are the nouns of the method table', () => {
  const inTable = new Set(named.filter(([, verb]) => verb !== undefined).map(([noun = '']) => noun))
  expect([...inTable].toSorted()).toEqual(nouns.toSorted())
})

test('every method without a noun is a command', () => {
  const single = named.filter(([, verb]) => verb === undefined).map(([name = '']) => name)
  expect(Object.keys(remoteCommands)).toEqual([...nouns, ...single])
})
