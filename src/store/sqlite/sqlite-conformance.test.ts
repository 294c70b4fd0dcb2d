import { storeConformance } from '../conformance/store-conformance.fixture.ts'
import { openSqlite } from './sqlite-opened.fixture.ts'

storeConformance('SQLite', openSqlite)
