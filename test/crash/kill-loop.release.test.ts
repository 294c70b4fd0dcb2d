import { killDatabase, killGateway } from './kill-loop.fixture.ts'

killGateway(200, 'SQLite')
killGateway(200, 'PostgreSQL')
killDatabase(200)
