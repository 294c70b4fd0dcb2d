import { describe } from 'vitest'
import { coordinatorDeaths } from './coordinator-deaths.fixture.ts'
import { bothDatabases } from './runs.fixture.ts'

describe.each(bothDatabases)('on %s, a coordinator that is killed', (kind) =>
  coordinatorDeaths(kind, 'every'),
)
