import { fewLooks, viewTests } from './views.fixture.ts'

viewTests(fewLooks)
