import { killDatabase, killGateway } from './kill-loop.fixture.ts'

killGateway(1, 'PostgreSQL')
killDatabase(1)
