import { killGateway } from './kill-loop.fixture.ts'

killGateway(1, 'SQLite')
