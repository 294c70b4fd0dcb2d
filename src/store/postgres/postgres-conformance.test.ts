import { storeConformance } from '../conformance/store-conformance.fixture.ts'
import { openPostgres } from './postgres.fixture.ts'

storeConformance('PostgreSQL', openPostgres)
