import { storeConformance } from '../conformance/store-conformance.fixture.ts'
import { openSqlite } from './sqlite.fixture.ts'

storeConformance('SQLite', openSqlite)
