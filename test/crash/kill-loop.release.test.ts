import { killLoops } from './kill-loop.fixture.ts'

killLoops(200)
