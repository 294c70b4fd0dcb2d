import { leavingCallers } from './leaving-callers.fixture.ts'
import { malformedRequests } from './malformed-requests.fixture.ts'
import { waitingCalls } from './waiting-calls.fixture.ts'
import { writeLock } from './write-lock.fixture.ts'

writeLock(30_000)
leavingCallers(1_000)
waitingCalls(10_000)
malformedRequests(20_000)
