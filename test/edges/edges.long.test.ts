import { leavingCallers } from './leaving-callers.fixture.ts'
import { malformedRequests } from './malformed-requests.fixture.ts'
import { waitingCalls } from './waiting-calls.fixture.ts'

waitingCalls(100)
leavingCallers(50)
malformedRequests(500)
